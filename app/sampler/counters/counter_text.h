#pragma once
// Readings as ph:C events: core/load/KINETO.md says how they are read. An event is left out where nothing in it changed, since
// the value of a counter holds until its next event.
#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "app/sampler/counters/readings.h"
#include "app/sampler/kineto_text.h"

namespace gapscope::sampler {

class CounterText {
 public:
  // Appends no, one or several events with kNextEvent between them. Readings of a device come in order.
  void add(std::string& out, const TraceInfo& info, const CounterReading& reading);
  void add(std::string& out, const TraceInfo& info, const HealthReading& reading);
  // Where each device's samples end.
  void finish(std::string& out, const TraceInfo& info);

  // Of all devices: samples written or left out as equal, and samples that are missing between others.
  std::uint64_t samples() const { return samples_; }
  std::uint64_t lost() const { return lost_; }

 private:
  static constexpr std::size_t kEvents = 10;  // that differ in their name
  struct Device {
    std::array<std::string, kEvents> last;  // their args, as last written
    Ns end = 0, interval = 0;               // of the last sample
  };
  struct Place {
    std::int32_t device;
    Ns time;
  };
  void put(std::string& out, const TraceInfo& info, const Place& place, std::size_t event, const std::string& args);
  void put_off(std::string& out, const TraceInfo& info, std::int32_t id, Device& device);

  std::map<std::int32_t, Device> devices_;
  std::uint64_t samples_ = 0, lost_ = 0;
};

}  // namespace gapscope::sampler
