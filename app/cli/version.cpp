#include "app/cli/version.h"

#include <vector>

#include <fmt/format.h>

namespace gapscope {
namespace {

#if __has_include(<archive.h>)
constexpr bool kHasArchives = true;
#else
constexpr bool kHasArchives = false;
#endif

struct Part {
  const char* name;
  bool is_in;
};

const std::vector<Part>& parts() {
  static const std::vector<Part> kParts = {
      {".xz", GAPSCOPE_HAVE_LZMA != 0},
      {".zst", GAPSCOPE_HAVE_ZSTD != 0},
      {".zip and .tar", kHasArchives},
      {"gapscope record", GAPSCOPE_HAVE_RECORDER != 0},
      {"gapscope-workload", GAPSCOPE_HAVE_WORKLOADS != 0},
      {"gapscope-mpi", GAPSCOPE_HAVE_MPI != 0},
  };
  return kParts;
}

std::string list(bool is_in) {
  std::vector<std::string> names;
  for (const Part& part : parts())
    if (part.is_in == is_in) names.emplace_back(part.name);
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

const char* const kVersion = GAPSCOPE_VERSION;

std::string version_text() {
  return fmt::format("gapscope {}\ncommit {}, {} build\nbuilt in: {}\nleft out: {}", kVersion, kCommit, GAPSCOPE_BUILD_TYPE,
                     list(true), list(false));
}

}  // namespace gapscope
