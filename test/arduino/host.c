/* Runs a sketch in simavr: its serial port is a pseudo-terminal, and every pulse on a pin is a line on standard output.
 *
 *     host sketch.elf      prints: port <path>, then: <arduino pin> <pulse in us> <when in s>
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <simavr/avr_ioport.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

#define HZ 16000000.0

static avr_t *avr;
static int master;
static int open_for_bytes = 1;
static avr_cycle_count_t rose[20];

static void from_sketch(struct avr_irq_t *irq, uint32_t value, void *unused) {
    unsigned char byte = value;
    (void)irq, (void)unused;
    if (write(master, &byte, 1) < 0 && errno != EAGAIN && errno != EIO) exit(1);
}

static void more(struct avr_irq_t *irq, uint32_t value, void *unused) {
    (void)irq, (void)value, (void)unused;
    open_for_bytes = 1;
}

static void no_more(struct avr_irq_t *irq, uint32_t value, void *unused) {
    (void)irq, (void)value, (void)unused;
    open_for_bytes = 0;
}

static void pin(struct avr_irq_t *irq, uint32_t value, void *which) {
    const long number = (long)which;
    (void)irq;
    if (value) {
        rose[number] = avr->cycle;
    } else if (rose[number]) {
        printf("%ld %.1f %.6f\n", number, (avr->cycle - rose[number]) / HZ * 1e6, avr->cycle / HZ);
        fflush(stdout);
    }
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int count, char **arguments) {
    elf_firmware_t firmware = {0};
    if (count < 2 || elf_read_firmware(arguments[1], &firmware)) return 1;
    avr = avr_make_mcu_by_name("atmega328p");
    avr_init(avr);
    avr_load_firmware(avr, &firmware);
    avr->frequency = HZ;

    uint32_t flags = 0;
    avr_ioctl(avr, AVR_IOCTL_UART_GET_FLAGS('0'), &flags);
    flags &= ~(AVR_UART_FLAG_STDIO | AVR_UART_FLAG_POLL_SLEEP);
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_t *input = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), from_sketch, NULL);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XON), more, NULL);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XOFF), no_more, NULL);
    for (long i = 0; i < 20; i++) { /* 14 is A0 */
        const char port = i < 8 ? 'D' : i < 14 ? 'B' : 'C';
        avr_irq_t *irq = avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(port), i < 8 ? i : i < 14 ? i - 8 : i - 14);
        avr_irq_register_notify(irq, pin, (void *)i);
    }

    master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    grantpt(master);
    unlockpt(master);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    struct termios raw;
    tcgetattr(slave, &raw);
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    printf("port %s\n", ptsname(master));
    fflush(stdout);

    const double began = seconds();
    unsigned char waiting[256];
    int left = 0, at = 0;
    avr_cycle_count_t next_byte = 0;
    for (;;) {
        for (int i = 0; i < 2000; i++) {
            const int state = avr_run(avr);
            if (state == cpu_Done || state == cpu_Crashed) return 2;
            if (left && open_for_bytes && avr->cycle >= next_byte) {
                avr_raise_irq(input, waiting[at++]);
                left--;
                next_byte = avr->cycle + HZ / 11520.0; /* as long as a byte takes at 115200 baud */
            }
        }
        if (!left) {
            const ssize_t got = read(master, waiting, sizeof waiting);
            left = got > 0 ? got : 0;
            at = 0;
        }
        const double ahead = avr->cycle / HZ - (seconds() - began);
        if (ahead > 0.002) usleep(1000);
        if (getppid() == 1) return 0;
    }
}
