#include <cstdio>

int main() { std::puts("gapscope"); }
