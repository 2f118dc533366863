#pragma once
// Functions of libraries that are found while the program runs: CUDA's driver, CUPTI, NVML.
#include <dlfcn.h>

namespace gapscope::sampler {

// By its name in the library's header, also where a newer version has a suffix. False, and null, where it is not there.
template <class Function>
bool find_function(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  return out != nullptr;
}

// Of a list of functions of a library: a member for each, and the search for it, for as long as the library is `whole`.
#define GAPSCOPE_FUNCTION_MEMBER(name, member) decltype(&name) member = nullptr;
#define GAPSCOPE_FIND_FUNCTION(name, member) whole = whole && find_function(library, #name, member);

}  // namespace gapscope::sampler
