#pragma once
// What the trace is one rank of, for the tables of ranks. Nothing: the trace alone.
#include <memory>
#include <string>
#include <vector>

namespace gapscope {
struct RunReport;  // core/ranks/run_report.h
}

namespace gapscope::sql {

struct RunSource {
  std::vector<std::string> files;          // of the ranks; read when a table first asks
  std::shared_ptr<const RunReport> known;  // in place of that, where it is known already
  friend bool operator==(const RunSource&, const RunSource&) = default;
};

}  // namespace gapscope::sql
