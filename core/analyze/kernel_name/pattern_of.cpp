// Which row of the table a name is of.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/analyze/kernel_name/kernel_patterns.h"

namespace gapscope {
namespace {

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// KernelPattern::part of each row in lower case: names are put into it once, not once a row.
const std::vector<std::string>& lower_parts() {
  static const std::vector<std::string> parts = [] {
    std::vector<std::string> out;
    for (const KernelPattern& pattern : kernel_patterns()) out.push_back(in_lower_case(pattern.part));
    return out;
  }();
  return parts;
}

}  // namespace

const KernelPattern* pattern_of(const NameParts& parts) {
  const std::string whole = in_lower_case(parts.whole), head = in_lower_case(parts.head);
  for (std::size_t i = 0; i < kernel_patterns().size(); ++i) {
    const std::string& part = lower_parts()[i];
    const Where where = kernel_patterns()[i].where;
    if (where == Where::start ? head.starts_with(part) : (where == Where::head ? head : whole).find(part) != head.npos)
      return &kernel_patterns()[i];
  }
  return nullptr;
}

}  // namespace gapscope
