/* Two libraries of this text, told apart by NAME, are loaded one after the other, most often at one address. See functions.py. */
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)

int work(int n);

static int JOIN(inner_, NAME)(int n)
{
    return n + 1;
}

int work(int n)
{
    return JOIN(inner_, NAME)(n);
}
