/* Functions compiled with -finstrument-functions, in C++: names, overloads, templates, exceptions. See functions.py. */
#include <cstdio>
#include <stdexcept>

namespace geo {

/* @twice */
template <class T> static T twice(T x)
{
    return x + x;
} /* @end twice */

class Body {
public:
    explicit Body(double mass);
    ~Body();
    double mass() const;
    double operator()(int k) const;

private:
    double mass_;
};

/* @body */
Body::Body(double mass) : mass_(mass)
{
    mass_ += 0;
} /* @end body */

/* @gone */
Body::~Body()
{
    mass_ = 0;
} /* @end gone */

/* @mass */
double Body::mass() const
{
    return twice(mass_);
} /* @end mass */

/* @call */
double Body::operator()(int k) const
{
    return k * mass_;
} /* @end call */

} // namespace geo

namespace {
/* @hidden */
int hidden(int x)
{
    return x + 1;
} /* @end hidden */
} // namespace

/* @area1 */
double area(double r)
{
    return r * r;
} /* @end area1 */

/* @area2 */
double area(double a, double b)
{
    return a * b;
} /* @end area2 */

/* @throws */
static void throws(int i)
{
    geo::Body local(i);
    if (i % 2)
        throw std::runtime_error("odd");
} /* @end throws */

/* @passes */
static void passes(int i)
{
    throws(i);
} /* @end passes */

/* @after */
static double after()
{
    volatile double room[64];
    room[1] = 1;
    return room[1];
} /* @end after */

/* @catches */
static double catches(int n)
{
    double caught = 0;
    for (int i = 0; i < n; i++)
        try {
            passes(i);
        } catch (const std::exception &) {
            caught += after();
        }
    return caught;
} /* @end catches */

/* @main */
int main()
{
    double sum = catches(6) + area(2) + area(2, 3) + hidden(1);
#pragma omp parallel reduction(+ : sum)
    {
        geo::Body body(2);
        sum += body.mass() + body(3) + geo::twice(1);
    }
    std::printf("%g\n", sum);
}
