#pragma once
// --export: reports of Nsight Systems (.nsys-rep) on the command line are exported by NVIDIA's own `nsys` first.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace gapscope {

// Exports in the temporary folder go with it, and with the process however that ends.
class NsightExports {
 public:
  NsightExports();
  ~NsightExports();
  NsightExports(const NsightExports&) = delete;
  NsightExports& operator=(const NsightExports&) = delete;

  // Takes --export and --export=keep off the words, and puts an export in each report's place: in a temporary folder, or next
  // to the report. Words behind `record ... --` are another program's. Nothing that exists is written over. Waits for nsys.
  // To be called before there is a second thread.
  std::optional<Error> replace_reports(std::vector<std::string>& words);

 private:
  class Folder;
  std::optional<Error> replace(std::string& report, bool stays);
  std::unique_ptr<Folder> folder_;  // null: none was needed yet
  int exports_ = 0;                 // in it
};

}  // namespace gapscope
