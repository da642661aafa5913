// Exit status 0: constants passed by value arrive as written; 1: some do not, and their values are printed.
// Some builds of gcc 12 fill half a vector register too much when a struct's constant begins with equal
// members and ends with zeros: {7, 7, 7, 0, 0, 0} arrives as {7, 7, 7, 7, 0, 0}.
// Which sizes are wrong depends
// on -march and -mtune.
#include <stdio.h>

static int wrong;

// One struct of `count` members and one constant. Calls in functions of their own: in a long function the
// arguments are copied in another way, which is right.
#define CASE(name, type, count, ...)                                                                         \
    typedef struct {                                                                                         \
        type member[count];                                                                                  \
    } name;                                                                                                  \
    __attribute__((noinline)) static void name##_receive(name passed)                                        \
    {                                                                                                        \
        static const volatile type expected[count] = { __VA_ARGS__ };                                        \
        __asm__ volatile("" ::: "memory");                                                                   \
        int differs = 0;                                                                                     \
        for (int i = 0; i < (count); i++) {                                                                  \
            differs |= passed.member[i] < expected[i] || passed.member[i] > expected[i];                     \
        }                                                                                                    \
        if (differs) {                                                                                       \
            wrong = 1;                                                                                       \
            printf("a struct of %d %s passed as {", count, #type);                                           \
            for (int i = 0; i < (count); i++) {                                                              \
                printf("%s%d", i > 0 ? ", " : "", (int)passed.member[i]);                                    \
            }                                                                                                \
            printf("} instead of {%s}\n", #__VA_ARGS__);                                                     \
        }                                                                                                    \
    }                                                                                                        \
    static void (*volatile name##_call)(name) = name##_receive;                                              \
    __attribute__((noinline)) static void name##_pass(void)                                                  \
    {                                                                                                        \
        name##_call((name){ { __VA_ARGS__ } });                                                              \
    }

CASE(Double3, double, 3, 7, 7, 0)
CASE(Double4, double, 4, 7, 7, 7, 0)
CASE(Double4Half, double, 4, 7, 7, 0, 0)
CASE(Double5, double, 5, 7, 7, 7, 0, 0)
CASE(Double6, double, 6, 7, 7, 7, 0, 0, 0)
CASE(Double6First, double, 6, 7, 7, 0, 0, 0, 0)
CASE(Double6Mixed, double, 6, 1, 2, 3, 0, 0, 1)
CASE(Double8, double, 8, 7, 7, 7, 7, 7, 7, 7, 0)
CASE(Double8Half, double, 8, 7, 7, 7, 7, 0, 0, 0, 0)
CASE(Double9, double, 9, 1, 0, 0, 0, 1, 0, 0, 0, 1)
CASE(Double12, double, 12, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0)
CASE(Double16, double, 16, 7, 7, 7, 7, 7, 7, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0)
CASE(Double16First, double, 16, 7, 7, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
CASE(Float3, float, 3, 7, 7, 0)
CASE(Float6, float, 6, 7, 7, 7, 0, 0, 0)
CASE(Float8, float, 8, 7, 7, 7, 7, 7, 7, 0, 0)
CASE(Float8Half, float, 8, 7, 7, 7, 7, 0, 0, 0, 0)
CASE(Float16, float, 16, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0, 0)
CASE(Float16First, float, 16, 7, 7, 7, 7, 7, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
CASE(Int8, int, 8, 7, 7, 7, 7, 7, 7, 0, 0)

int main(void)
{
    Double3_pass();
    Double4_pass();
    Double4Half_pass();
    Double5_pass();
    Double6_pass();
    Double6First_pass();
    Double6Mixed_pass();
    Double8_pass();
    Double8Half_pass();
    Double9_pass();
    Double12_pass();
    Double16_pass();
    Double16First_pass();
    Float3_pass();
    Float6_pass();
    Float8_pass();
    Float8Half_pass();
    Float16_pass();
    Float16First_pass();
    Int8_pass();
    return wrong;
}
