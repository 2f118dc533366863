// jemalloc's settings, which it reads before main(). With the C library's allocator, pages entered for the first time were a
// third of the time of `diagnose` where they are dear: on a virtual machine of 2 cores 458 MB took 0.88 s, and 0.61 s since,
// `info` 0.35 and 0.26 s. Where they are cheap (16 cores of an H200's host) `info` of a .gz takes a fifth less, others the
// same. Of one arena threads use each other's pages: with four, 2 cores take longer, and 16 cores the same.
extern "C" const char* malloc_conf;
extern "C" const char* malloc_conf = "thp:always,narenas:1";
