#pragma once
// The table behind decode(): which part of a name gives a kernel away, and who reads the rest. The first row that
// matches wins, so the more telling rows come first. Every row carries a real name as its example, which is its test.
#include <span>
#include <string_view>

#include "core/analyze/kernel_name/kernel_name.h"

namespace gapscope {

// A name in its parts. Views into the text that it was made from.
struct NameParts {
  std::string_view whole;       // demangled
  std::string_view head;        // qualified function name without return type: "at::native::reduce_kernel"
  std::string_view arguments;   // of the outermost template, without the brackets; may be empty
  bool has_parameters = false;  // C++: "(int, float*)" follows
};
NameParts parts_of(std::string_view demangled);

enum class Where : std::uint8_t { start, head, anywhere };  // start and head look at NameParts::head

struct KernelPattern {
  Where where;
  std::string_view part;  // compared without case
  KernelKind kind;
  std::string_view family;
  void (*read)(const NameParts&, KernelName&);  // fills in the rest; may be null
  std::string_view example;
};
std::span<const KernelPattern> kernel_patterns();
// The first row that matches, or nullptr.
const KernelPattern* pattern_of(const NameParts& parts);

}  // namespace gapscope
