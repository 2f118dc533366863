#include "app/sampler/cupti_library.h"

#include <dlfcn.h>

#include <array>

#include "app/sampler/find_function.h"

namespace gapscope::sampler {

// The one that the program has loaded already, the system's, and the toolkit's that this was built with.
void* open_cupti() {
  constexpr std::array<const char*, 3> kNames = {"libcupti.so." GAPSCOPE_CUDA_MAJOR, "libcupti.so", GAPSCOPE_CUPTI_LIBRARY};
  if (void* loaded = dlopen(kNames[0], RTLD_LAZY | RTLD_NOLOAD)) return loaded;
  for (const char* name : kNames)
    if (void* library = dlopen(name, RTLD_LAZY)) return library;
  return nullptr;
}

std::string CuptiLibrary::load() {
  void* library = open_cupti();
  if (!library)
    return "CUPTI (libcupti.so) was not found. Install the CUDA toolkit's CUPTI, or add its folder to LD_LIBRARY_PATH.";
  bool whole = find_function(library, "InitializeInjectionNvtx2", initialize_nvtx);
  GAPSCOPE_CUPTI_FUNCTIONS(GAPSCOPE_FIND_FUNCTION)
  return whole ? std::string() : "The CUPTI library found here is too old: CUDA 12 or later is needed.";
}

}  // namespace gapscope::sampler
