#pragma once
// CPU samples of an Nsight Systems export (COMPOSITE_EVENTS and SAMPLING_CALLCHAINS) as slices: a lane for each thread, in
// which every frame lasts from the first sample that has it to the end of the last one in a row. A thread is sampled only while
// it is on a CPU.
#include <cstdint>
#include <string>
#include <vector>

#include "core/load/kineto_writer.h"
#include "core/load/nsight_world.h"
#include "core/load/sqlite_file.h"

namespace gapscope {

class NsightSamples {
 public:
  NsightSamples(SqliteFile& file, NsightWorld& world) : file_(file), world_(world) {}
  // Writes what ends with the next sample; false when all is written, or the file is damaged.
  bool next(KinetoWriter& out);

 private:
  // Into StringIds: of a function, or with kIsModule of the module of an unresolved one.
  using Frame = std::uint32_t;
  static constexpr Frame kIsModule = Frame{1} << 31, kUnknown = kIsModule - 1;
  struct Chain {
    std::int64_t id = 0;
    std::size_t first = 0;  // in frames_, the outermost first
    std::uint32_t count = 0;
  };
  struct Sample {
    std::int64_t id = 0, thread = 0;
    Ns time = 0;
    Chain chain;
  };
  struct Open {
    Frame frame{};
    Ns begin = 0;
  };

  void read();
  void read_chains();
  void find_period();
  void close(KinetoWriter& out, std::size_t depth, Ns end);
  std::string_view name_of(Frame frame);

  SqliteFile& file_;
  NsightWorld& world_;
  bool is_read_ = false;
  std::vector<Frame> frames_;
  std::vector<Chain> chains_;
  std::vector<Sample> samples_;  // by thread, then by time
  Ns period_ = 0;
  std::size_t at_ = 0;  // in samples_
  std::int64_t thread_ = 0;
  std::vector<Open> open_;  // of thread_, the outermost first
  Ns end_ = 0;              // of the last sample
  std::string name_;        // scratch
};

}  // namespace gapscope
