#include "core/view/findings/report_csv.h"

#include "core/view/table/csv.h"

namespace gapscope {

std::string report_csv(const std::vector<OddityEntry>& entries) {
  std::string out = "kind,count,meaning,first_offsets\n";
  for (const OddityEntry& entry : entries) {
    std::string offsets;
    for (const OddityExample& example : entry.first)
      if (has_offset(example)) offsets += (offsets.empty() ? "" : " ") + std::to_string(example.offset);
    out += std::string(oddity_word(entry.kind)) + ',' + std::to_string(entry.count) + ',' + csv_cell(oddity_sentence(entry)) + ',' + offsets + '\n';
  }
  return out;
}

}  // namespace gapscope
