#pragma once
// The floor that loading is measured against: simdjson On-Demand over cache-sized pieces, touching the seven fields that
// any viewer needs (texts unescaped, numbers read) and keeping nothing. Compiled for x86-64-v3, as On-Demand iterates with what
// its file is compiled for.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include <simdjson.h>

#include "core/base/parallel.h"
#include "core/load/byte_source.h"
#include "core/load/event_bounds.h"

namespace gapscope::bench {

inline std::size_t walk_piece(simdjson::ondemand::parser& parser, std::vector<char>& piece, std::size_t size) {
  std::size_t sum = 0;
  simdjson::ondemand::document doc;
  if (parser.iterate(piece.data(), size, piece.size()).get(doc)) return 0;
  simdjson::ondemand::array events;
  if (doc.get_array().get(events)) return 0;
  for (auto element : events) {
    simdjson::ondemand::object event;
    if (element.get_object().get(event)) break;
    for (auto field : event) {
      simdjson::ondemand::raw_json_string key;
      if (field.key().get(key)) break;
      simdjson::ondemand::value value;
      if (field.value().get(value)) break;
      if (key == "ts" || key == "dur") {
        double number = 0;
        if (!value.get_double().get(number)) sum += static_cast<std::size_t>(number);
      } else if (key == "name" || key == "cat" || key == "ph" || key == "pid" || key == "tid") {
        std::int64_t number = 0;
        std::string_view text;
        if (!value.get_string().get(text))
          sum += text.size();
        else if (!value.get_int64().get(number))
          sum += static_cast<std::size_t>(number);
      }
    }
  }
  return sum;
}

// Walks all events of a plain JSON trace on `threads` threads; returns the bytes walked.
inline std::size_t walk_on_demand(const std::string& path, int threads) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  auto source = open_source(path);
  if (!source) return 0;
  std::mutex mutex;
  std::string tail;
  bool done = false;
  bool started = false;
  std::atomic<std::size_t> bytes{0}, sum{0};
  run_workers(threads, [&](int) {
    simdjson::ondemand::parser parser;
    std::vector<char> piece;
    for (;;) {
      std::size_t size = 0;
      {
        const std::lock_guard lock(mutex);
        if (done) return;
        piece.resize(std::max(piece.size(), tail.size() + kPiece + simdjson::SIMDJSON_PADDING + 2));
        piece[0] = '[';
        std::memcpy(piece.data() + 1, tail.data(), tail.size());
        const std::size_t got = *(*source)->read(piece.data() + 1 + tail.size(), kPiece);
        size = 1 + tail.size() + got;
        bytes += got;
        done = got < kPiece;
        const std::string_view text(piece.data() + 1, size - 1);
        std::size_t begin = 0;
        if (!started) {
          begin = text.find('[', text.find("traceEvents")) + 1;
          started = true;
          std::memset(piece.data(), ' ', begin + 1);
          piece[begin] = '[';
        }
        std::size_t cut = done ? text.rfind(']') : find_last_event(text, false);
        tail.assign(text.substr(cut));
        size = 1 + cut;
      }
      while (size > 1 && (piece[size - 1] == ' ' || piece[size - 1] == '\n' || piece[size - 1] == ',')) --size;
      piece[size++] = ']';
      sum += walk_piece(parser, piece, size);
    }
  });
  return sum == 0 ? 0 : bytes.load();
}

}  // namespace gapscope::bench
