#pragma once
// From what was seen to the trace file: names lanes when they are first met, joins ranges, keeps only what is in the range
// asked for, writes piece by piece. Used from one thread.
#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "app/record/recording.h"
#include "app/record/trace_pieces.h"
#include "app/sampler/activity.h"
#include "app/sampler/asked_times.h"
#include "app/sampler/counters/counter_text.h"
#include "app/sampler/kineto_text.h"
#include "app/sampler/ranges.h"

namespace gapscope::sampler {

class EventWriter {
 public:
  // `facts` is asked once, before the first event is written; `thread_name` for each thread.
  struct World {
    std::function<TraceInfo()> facts;
    std::function<std::string(std::uint32_t)> thread_name;
  };
  EventWriter(RecordingOptions options, World world) : options_(std::move(options)), world_(std::move(world)) {}

  void add(const Seen& seen);
  // Counters are written whatever part of the recording is asked for: few kernels would have any else.
  template <class Reading>
  void add_counters(const Reading& reading);
  // Writes what has come together; `now` is the time. Call it every few tenths of a second.
  void flush(Ns now);
  // Writes the rest and the end. Nothing is left where no CUDA work was seen, or, of counters alone, none of these.
  void finish(Ns now);
  // The end without the rest, where there is no memory for it: what was written until now becomes a trace.
  void finish_short();
  // Lets go of the file as it is: `gapscope record` finishes it. In a forked child: leaves it to the parent.
  void abandon() { file_.abandon(); }

  const std::string& trouble() const { return trouble_; }   // the first sentence that something went wrong, or empty
  const std::string& path() const { return file_.path(); }  // of the finished trace; empty where there is none
  std::uint64_t events() const { return events_; }
  std::size_t remembered() const {
    return asked_.size() + kept_.size() + ranges_.kept();
  }  // of what was, for what is still to come
  bool full() const { return options_.max_mb > 0 && file_.bytes() >= options_.max_mb * 1'000'000; }
  const CounterText& counters() const { return counters_; }

 private:
  struct Later {  // with a part asked for: whether it is in it is known a little later
    Ns time = 0;
    std::uint32_t correlation = 0;
    bool on_gpu = false;
    std::string text;
  };

  void add_call(const Call& call);
  void add_marker(const Marker& marker);
  template <class Work, class Append>
  void add_work(const Work& work, Append append);
  void follow_range(const Marker& marker);
  void follow_profiler(const Call& call);
  bool has_anything() const { return saw_cuda_ || (options_.counters_only && named_devices_.size() > 0); }
  bool is_restricted() const { return !options_.range.empty() || options_.profiler_api; }
  void put(Ns time, std::uint32_t correlation, bool on_gpu, std::string text);
  void write(Ns time, std::string_view text);
  void write_piece();
  void settle(Ns until);
  void forget(Ns until);
  void name_thread(std::uint32_t thread);
  void name_device(std::int32_t device);
  void name_stream(std::int32_t device, std::int64_t stream);
  bool begin();
  void write_gpu_ranges(Ns until);

  RecordingOptions options_;
  World world_;
  TraceInfo info_;
  TracePieces file_;
  std::string trouble_, text_;
  bool begun_ = false, saw_cuda_ = false;
  std::uint64_t events_ = 0;
  Ns first_ = 0, last_ = 0;  // begins of events written
  Ranges ranges_;
  CounterText counters_;
  std::unordered_map<std::uint32_t, std::int32_t> device_of_context_;
  std::unordered_set<std::uint32_t> named_threads_;
  std::set<std::pair<std::int32_t, std::int64_t>> named_streams_;
  std::set<std::int32_t> named_devices_;
  std::vector<Later> later_;
  AskedTimes asked_;                                     // when the part asked for was open
  std::unordered_set<std::uint32_t> kept_;               // correlations of calls in it
  std::deque<std::pair<Ns, std::uint32_t>> kept_since_;  // the same, in the order of their settling
};

}  // namespace gapscope::sampler
