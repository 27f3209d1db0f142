struct mesh;

struct mesh *make_mesh(int n);
double sum_of_mesh(const struct mesh *mesh);
