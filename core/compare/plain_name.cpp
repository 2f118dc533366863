#include "core/compare/plain_name.h"

#include <algorithm>
#include <cctype>

#include "core/analyze/gpu/launches.h"
#include "core/base/demangle.h"
#include "core/base/hash.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

// "triton_poi_fused_add_0" -> "triton_poi_fused_add"
std::string without_number(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  if (end == name.size() || end == 0 || name[end - 1] != '_') return std::string(name);
  return std::string(name.substr(0, end - 1));
}

// "{lambda(float)#2}" -> "{lambda(float)#}"
std::string without_ordinals(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  for (std::size_t i = 0; i < name.size(); ++i) {
    out += name[i];
    if (name[i] == '#')
      while (i + 1 < name.size() && is_digit(name[i + 1])) ++i;
  }
  return out;
}

}  // namespace

std::string plain_name(std::string_view name, Kind kind) {
  if (is_call(kind)) return is_kernel_launch_name(name) ? "launch of a kernel" : std::string(name);
  if (kind == Kind::memset) return "Memset";  // "Memset (Unknown)" inside graphs, "Memset (Device)" elsewhere
  if (name.starts_with("triton_")) return without_number(name);
  if (is_gpu_work(kind)) return without_ordinals(demangle(name));
  for (const std::string_view prefix : {"ProfilerStep#", "Torch-Compiled Region", "## Call CompiledFxGraph"})
    if (name.starts_with(prefix)) return std::string(prefix);
  return std::string(name);
}

std::uint64_t PlainNameKeys::key(SliceId slice) {
  const Kind kind = trace_.kind(slice);
  std::uint64_t& key = keys_[trace_.name_id(slice).index() * 2 + (is_call(kind) ? 1 : 0)];
  if (key == 0) key = hash_text(plain_name(trace_.name(slice), kind)) | 1;
  return key;
}

}  // namespace gapscope
