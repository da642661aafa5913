#ifndef WADI_POSIX_TERMIOS_H
#define WADI_POSIX_TERMIOS_H

struct termios {
    unsigned c_iflag, c_oflag, c_cflag, c_lflag;
};

enum { BRKINT, ICRNL, INPCK, ISTRIP, IXON, OPOST, CS8, ECHO, ICANON, IEXTEN, ISIG, VMIN, VTIME };
enum { TCSANOW, TCSAFLUSH };

static inline int tcgetattr(int fd, struct termios *state)
{
    (void)fd, (void)state;
    return -1;
}

static inline int tcsetattr(int fd, int when, const struct termios *state)
{
    (void)fd, (void)when, (void)state;
    return -1;
}

#endif
