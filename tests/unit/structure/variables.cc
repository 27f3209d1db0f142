/* C++ variables for variables.py. */
namespace geo {
struct Base {
    int id;
};
struct Body : Base {
    double mass[2];
    static long count; /* @geo::Body::count */
};
long Body::count = 3;   /* @geo::Body::count */
Body bodies[2];         /* @geo::bodies */
namespace {
int hidden = 4;         /* @geo::(anonymous namespace)::hidden */
}
}
template <int N> int &slot()
{
    static int value = N; /* @slot<1>::value */
    return value;
}
int count = 1;          /* @count */
int main()
{
    return geo::Body::count + geo::hidden + slot<1>() + slot<2>() + geo::bodies[1].id + count;
}
