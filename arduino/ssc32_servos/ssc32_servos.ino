// Hobby servos on the pins of an Arduino, led by the SSC-32's commands over its serial port:
//
//   #0P1500#1P1600S500T1000\r   pulses in us by channel, for each at most S us/s, and all in T ms; P0 is no pulse
//   STOP0\r                     stay where the way there has come to
//   Q\r                         answered by + while anything moves, else by .; by ! where a line was refused before
//   QP0\r                       answered by a byte, the pulse in 10 us; 0 is none
//   QU0\r                       answered by a line of text, the pulse in us; by * where it has started anew since VER
//   VER\r                       answered by the version
//
// The last but one, and the !, are no SSC-32's. A line that is too long, or anything but these, is refused whole.
// Soft start: no pulse changes faster than FASTEST, except for the first one of a channel, which has to come from somewhere.
// Watchdog: after PATIENCE without a command everything stays where it is.
// No library is needed, so that it runs on any board. Give the servos a supply of their own, with a common ground.

#include <Arduino.h>

// By channel; all of them become outputs, so leave out what else is connected.
const uint8_t PINS[] = {3, 5, 6, 9, 10, 11, 2, 4, 7, 8, 12, 13, A0, A1, A2, A3, A4, A5};
const uint8_t CHANNELS = sizeof(PINS);
const uint32_t BAUD = 115200;
const uint32_t FRAME = 20000;                    // us from pulse to pulse
const uint16_t SHORTEST = 500, LONGEST = 2500;   // us
const float FASTEST = 2500.0;                    // us per s
const uint32_t PATIENCE = 1000;                  // ms
const uint8_t LINE = 120;
// Channels that are pulsed at the same time, each from so many us after the one before: a group takes 2.8 ms of a FRAME.
// All must have begun before the first of them ends. More at once would keep serial bytes waiting for too long.
const uint8_t GROUP = 8;
const uint16_t APART = 40;

struct Channel {
  bool on;
  float now, goal;  // us
  float step;       // us per frame
};

Channel channels[CHANNELS];
char line[LINE + 1];
uint8_t length = 0;
bool tooLong = false, refused = false, greeted = false;
uint32_t heardAt = 0, frameAt = 0;

void setup() {
  for (uint8_t i = 0; i < CHANNELS; i++) {
    pinMode(PINS[i], OUTPUT);
    digitalWrite(PINS[i], LOW);
    channels[i] = {false, 1500.0, 1500.0, 0.0};
  }
  Serial.begin(BAUD);
}

void loop() {
  while (micros() - frameAt < FRAME) listen();
  frameAt += FRAME;
  if (micros() - frameAt > FRAME) frameAt = micros();  // it was held up: begin anew
  const bool forsaken = millis() - heardAt > PATIENCE;
  uint8_t group[GROUP], count = 0;
  for (uint8_t i = 0; i < CHANNELS; i++) {
    Channel &channel = channels[i];
    if (forsaken) channel.goal = channel.now;
    channel.now += constrain(channel.goal - channel.now, -channel.step, channel.step);
    if (!channel.on) continue;
    uint8_t at = count++;
    for (; at && channels[group[at - 1]].now > channel.now; at--) group[at] = group[at - 1];
    group[at] = i;
    if (count < GROUP) continue;
    pulse(group, count);
    count = 0;
    listen();
  }
  pulse(group, count);
  listen();
}

// Pulses of channels in the order of their widths: the shortest begins first, so no two of them end at once.
// Interrupts would stretch delayMicroseconds; the clock goes on in them.
void pulse(const uint8_t *group, uint8_t count) {
  uint32_t began[GROUP];
  uint16_t widths[GROUP];
  for (uint8_t k = 0; k < count; k++) widths[k] = (uint16_t)(channels[group[k]].now + 0.5);
  for (uint8_t k = 0; k < count; k++) {
    while (k && micros() - began[k - 1] < APART) {
    }
    began[k] = micros();
    digitalWrite(PINS[group[k]], HIGH);
  }
  for (uint8_t k = 0; k < count; k++) {
    while (micros() - began[k] < widths[k]) {
    }
    digitalWrite(PINS[group[k]], LOW);
  }
}

void listen() {
  while (Serial.available()) {
    const char c = Serial.read();
    if (c == '\r' || c == '\n') {
      line[length] = 0;
      if (tooLong || (length && !obey())) refused = true;
      length = 0;
      tooLong = false;
    } else if (length < LINE) {
      line[length++] = c;
    } else {
      tooLong = true;  // half a command is none
    }
  }
}

// Whether the line is one that can be obeyed.
bool obey() {
  heardAt = millis();
  const char *at = line;
  if (line[0] == '#') return move(at);
  if (!strcmp(line, "Q")) {
    Serial.write(refused ? '!' : moving() ? '+' : '.');
    refused = false;
  } else if (!strncmp(line, "QP", 2)) {
    at += 2;
    Serial.write((uint8_t)(width(number(at)) / 10.0 + 0.5));
  } else if (!strncmp(line, "QU", 2)) {
    at += 2;
    if (greeted) Serial.print((uint16_t)(width(number(at)) + 0.5));
    Serial.print(greeted ? "\r" : "*\r");
  } else if (!strncmp(line, "STOP", 4)) {
    at += 4;
    const long i = number(at);
    if (i < 0 || i >= CHANNELS) return false;
    channels[i].goal = channels[i].now;
  } else if (!strcmp(line, "VER")) {
    greeted = true;
    refused = false;
    Serial.print("SSC32-ARDUINO-1.1\r");
  } else {
    return false;
  }
  return true;
}

// The pulse of a channel in us, 0 for none.
float width(long i) {
  return i >= 0 && i < CHANNELS && channels[i].on ? channels[i].now : 0.0;
}

bool moving() {
  for (uint8_t i = 0; i < CHANNELS; i++) {
    if (channels[i].on && fabs(channels[i].goal - channels[i].now) > 0.5) return true;
  }
  return false;
}

// The number at `at`, which moves behind it; -1 where there is none.
long number(const char *&at) {
  while (*at == ' ') at++;
  if (*at < '0' || *at > '9') return -1;
  long out = 0;
  while (*at >= '0' && *at <= '9' && out < 100000) out = 10 * out + (*at++ - '0');
  return out;
}

// A line of moves is obeyed whole, or, where anything in it is amiss, not at all.
bool move(const char *at) {
  long pulses[CHANNELS], speeds[CHANNELS], time = -1;
  for (uint8_t i = 0; i < CHANNELS; i++) pulses[i] = speeds[i] = -1;
  long i = -1;
  while (*at) {
    const char what = *at++;
    if (what == ' ') continue;
    const long value = number(at);
    if (value < 0) return false;
    if (what == '#') {
      if (value >= CHANNELS) return false;
      i = value;
    } else if (what == 'P' && i >= 0) {
      if (value && (value < SHORTEST || value > LONGEST)) return false;
      pulses[i] = value;
    } else if (what == 'S' && i >= 0) {
      speeds[i] = value;
    } else if (what == 'T') {
      time = value;
    } else {
      return false;
    }
  }
  for (uint8_t k = 0; k < CHANNELS; k++) {
    if (pulses[k] < 0) continue;
    Channel &channel = channels[k];
    if (pulses[k] == 0) {
      channel.on = false;
      continue;
    }
    channel.goal = pulses[k];
    if (!channel.on) channel.now = channel.goal;
    channel.on = true;
    float speed = FASTEST;
    if (speeds[k] > 0) speed = min(speed, (float)speeds[k]);
    if (time > 0) speed = min(speed, (float)(fabs(channel.goal - channel.now) * 1000.0 / time));
    channel.step = speed * (FRAME / 1000000.0);
  }
  return true;
}
