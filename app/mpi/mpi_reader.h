#pragma once
// The files of a run, read by all processes of an MPI program: dealt out by size, largest first, each reduced where it was
// read.
#include "core/ranks/run_report.h"

namespace gapscope {

// Which process reads which file: the largest left goes to the process with the least so far. The same everywhere.
std::vector<int> deal_by_size(const std::vector<std::uint64_t>& sizes, int processes);

// For process 0, which asks and gathers. The other processes serve until it is destroyed.
class MpiReader : public RankReader {
 public:
  // `stated`: of each file; the same in all processes.
  explicit MpiReader(const Stated& stated) : local_({.stated = stated}) {}
  ~MpiReader() override;
  std::vector<ReadFile> read(const std::vector<std::string>& files) override;
  std::vector<DoingAnswer> answer(const std::vector<DoingQuestion>& questions) override;

 private:
  LocalReader local_;
  std::vector<std::string> files_;
  std::vector<int> reader_of_;  // by file
};

// For every other process: does what process 0 asks until it is done.
void serve_mpi_reader(const Stated& stated);

}  // namespace gapscope
