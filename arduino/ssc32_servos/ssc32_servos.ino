// Hobby servos on the pins of an Arduino, led by the SSC-32's commands over its serial port:
//
//   #0P1500#1P1600S500T1000\r   pulses in us by channel, for each at most S us/s, and all in T ms; P0 is no pulse
//   STOP0\r                     stay where the way there has come to
//   Q\r                         answered by + while anything moves, else by .
//   QP0\r                       answered by a byte, the pulse in 10 us
//   VER\r                       answered by the version
//
// Soft start: no pulse changes faster than FASTEST, except for the first one of a channel, which has to come from somewhere.
// Watchdog: after PATIENCE without a command everything stays where it is.
// No library is needed, so that it runs on any board. Give the servos a supply of their own, with a common ground.

#include <Arduino.h>

const uint8_t PINS[] = {3, 5, 6, 9, 10, 11};  // by channel
const uint8_t CHANNELS = sizeof(PINS);
const uint32_t BAUD = 115200;
const uint32_t FRAME = 20000;                    // us from pulse to pulse
const uint16_t SHORTEST = 500, LONGEST = 2500;   // us
const float FASTEST = 2500.0;                    // us per s
const uint32_t PATIENCE = 1000;                  // ms
const uint8_t LINE = 120;

struct Channel {
  bool on;
  float now, goal;  // us
  float step;       // us per frame
};

Channel channels[CHANNELS];
char line[LINE + 1];
uint8_t length = 0;
bool tooLong = false;
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
  for (uint8_t i = 0; i < CHANNELS; i++) {
    Channel &channel = channels[i];
    if (forsaken) channel.goal = channel.now;
    channel.now += constrain(channel.goal - channel.now, -channel.step, channel.step);
    if (channel.on) pulse(PINS[i], (uint16_t)(channel.now + 0.5));
    listen();
  }
}

// Interrupts would stretch delayMicroseconds; the clock goes on in them.
void pulse(uint8_t pin, uint16_t width) {
  const uint32_t began = micros();
  digitalWrite(pin, HIGH);
  while (micros() - began < width) {
  }
  digitalWrite(pin, LOW);
}

void listen() {
  while (Serial.available()) {
    const char c = Serial.read();
    if (c == '\r' || c == '\n') {
      line[length] = 0;
      if (length && !tooLong) obey();
      length = 0;
      tooLong = false;
    } else if (length < LINE) {
      line[length++] = c;
    } else {
      tooLong = true;  // half a command is none
    }
  }
}

void obey() {
  heardAt = millis();
  const char *at = line;
  if (line[0] == '#') {
    move(at);
  } else if (!strcmp(line, "Q")) {
    Serial.write(moving() ? '+' : '.');
  } else if (!strncmp(line, "QP", 2)) {
    at += 2;
    const long i = number(at);
    Serial.write(i >= 0 && i < CHANNELS && channels[i].on ? (uint8_t)(channels[i].now / 10.0 + 0.5) : 0);
  } else if (!strncmp(line, "STOP", 4)) {
    at += 4;
    const long i = number(at);
    if (i >= 0 && i < CHANNELS) channels[i].goal = channels[i].now;
  } else if (!strcmp(line, "VER")) {
    Serial.print("SSC32-ARDUINO-1.0\r");
  }
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
void move(const char *at) {
  long pulses[CHANNELS], speeds[CHANNELS], time = -1;
  for (uint8_t i = 0; i < CHANNELS; i++) pulses[i] = speeds[i] = -1;
  long i = -1;
  while (*at) {
    const char what = *at++;
    if (what == ' ') continue;
    const long value = number(at);
    if (value < 0) return;
    if (what == '#') {
      if (value >= CHANNELS) return;
      i = value;
    } else if (what == 'P' && i >= 0) {
      if (value && (value < SHORTEST || value > LONGEST)) return;
      pulses[i] = value;
    } else if (what == 'S' && i >= 0) {
      speeds[i] = value;
    } else if (what == 'T') {
      time = value;
    } else {
      return;
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
}
