#pragma once
// A trace file that is written piece by piece, so that whatever happens to the writer, what was written can be read: each
// piece is a gzip member of its own (RFC 1952 lets a file have many) or, without .gz, plain text. While it grows the file is
// called PATH.partial; only a finished one is called a trace.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gapscope {

class TracePieces {
 public:
  // Begins `path`.partial; fails where that exists already. The answer is empty, or a sentence.
  std::string open(const std::string& path);
  // Adds text that ends at the end of an event. Empty, or a sentence; after that nothing more is written.
  std::string add(std::string_view text);
  // Adds the end and gives the file its name, replacing one that had it.
  std::string finish(std::string_view tail);
  // Takes the begun file away: nothing was recorded.
  void discard();
  ~TracePieces();

  bool is_open() const { return file_ >= 0; }
  std::uint64_t bytes() const { return bytes_; }  // in the file

  static std::string partial_name(const std::string& path) { return path + ".partial"; }

 private:
  std::string write(std::string_view text);

  std::string path_;
  int file_ = -1;
  bool gzip_ = false;
  std::uint64_t bytes_ = 0;
};

// Finishes PATH.partial of a writer that was killed: keeps every whole piece, drops what is cut off, adds `tail`. Empty, or a
// sentence.
std::string finish_partial(const std::string& path, std::string_view tail);

}  // namespace gapscope
