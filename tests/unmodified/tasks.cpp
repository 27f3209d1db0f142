/* Tasks whose data have constructors, are undeferred, final, made by taskloop, or reduced: libgomp copies and fills the blocks of each. */
#include <cstdio>
#include <string>
#include <vector>
int main() {
    long total = 0; 
    std::string s(1000, 'x');
    std::vector<int> v(10, 3);
    #pragma omp parallel
    #pragma omp single
    {
        for (int k = 0; k < 50; k++) {
            #pragma omp task firstprivate(s, v, k) shared(total)
            { s[0] = 'a' + k % 26; v[k % 10] = k; 
              #pragma omp atomic
              total += s.size() + v[k % 10] + s[0]; }
            #pragma omp task firstprivate(s) if(k % 2) final(k > 40) shared(total)
            {
              #pragma omp atomic
              total += s.size(); }
        }
        #pragma omp taskloop firstprivate(s) grainsize(3) shared(total)
        for (int i = 0; i < 100; i++) { s += "y";
            #pragma omp atomic
            total += s.size() > 1000; }
        #pragma omp taskloop firstprivate(s) num_tasks(7) if(0) shared(total)
        for (unsigned long long i = 0; i < 50ull; i++) {
            #pragma omp atomic
            total += s.size(); }
        #pragma omp taskwait
        #pragma omp taskloop reduction(+:total)
        for (int i = 0; i < 100; i++) total += i;
    }
    std::printf("%ld\n", total);
}
