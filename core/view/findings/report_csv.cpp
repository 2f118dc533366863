#include "core/view/findings/report_csv.h"

#include "core/base/table/csv.h"

namespace gapscope {

std::string report_csv(const std::vector<ImportIssueEntry>& entries) {
  std::string out = "kind,count,meaning,first_offsets\n";
  for (const ImportIssueEntry& entry : entries) {
    std::string offsets;
    for (const ImportIssueExample& example : entry.first)
      if (has_offset(example)) offsets += (offsets.empty() ? "" : " ") + std::to_string(example.offset);
    out += std::string(import_issue_word(entry.kind)) + ',' + std::to_string(entry.count) + ',' +
           csv_cell(import_issue_sentence(entry)) + ',' + offsets + '\n';
  }
  return out;
}

}  // namespace gapscope
