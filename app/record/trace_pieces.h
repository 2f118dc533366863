#pragma once
// A trace file that is written piece by piece, so that whatever happens to the writer, what was written can be read: each
// piece is a gzip member of its own (RFC 1952 lets a file have many) or, without .gz, plain text. While it grows it has a name
// that says so (piece_name.h) and a lock that the kernel drops when the writer's process is gone; only a finished one is called
// a trace. A file that was there before is never replaced.
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "app/record/piece_name.h"

namespace gapscope {

class TracePieces {
 public:
  // Begins a file in the folder of `path`. The answer is empty, or a sentence.
  std::string open(const std::string& path, const PieceOwner& owner);
  // Adds text that ends at the end of an event. Empty, or a sentence: then the file ends with the piece before, and nothing
  // more is written. Throws std::bad_alloc; the file is as it was.
  std::string add(std::string_view text);
  // Adds the end, gives the file its name: the one asked for or, where that is taken, the first free one with a number. Where
  // there is no room for the end, the last piece makes some; where not even the first piece could be written, nothing is left.
  // Empty, or a sentence.
  std::string finish(std::string_view tail);
  // Takes the begun file away: nothing was recorded.
  void discard();
  // Lets go of the file and its lock, and leaves it: to the process that finishes it, or, in a forked child, to the parent.
  void abandon();
  ~TracePieces() { abandon(); }

  bool is_open() const { return file_ >= 0; }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(bytes_); }  // in the file
  const std::string& piece() const { return piece_; }                         // the name while it grows
  const std::string& path() const { return taken_; }                          // its own at last; empty before

 private:
  std::string write(std::string_view text);

  std::string path_, piece_, taken_;
  int file_ = -1;
  bool gzip_ = false, failed_ = false;
  off_t bytes_ = 0, last_ = 0;  // end and begin of the last whole piece
};

// What became of a file whose writer should be gone.
struct Rescued {
  enum class What : std::uint8_t {
    finished,  // now called `path`
    empty,     // nothing in it was whole; it is taken away
    written,   // its writer lives: untouched
    unknown,   // whether its writer lives is not known here: untouched
    gone,      // its writer finished it, or took it away, meanwhile
    failed,    // `sentence` says why; it is still there
  };
  What what{};
  std::string path, sentence;
};

// Keeps every whole piece of a file whose writer was killed, drops what is cut off, adds `tail`, and names it as finish does.
Rescued rescue(const std::string& piece, const std::string& path, std::string_view tail);

// Whether a writer holds the file: true where that is not known.
bool may_be_written(const std::string& piece);

// Gives `from` the name `path` or, where that is taken, the first free one with a number (core/base/temporary_file.h): 0 and
// `taken`, or errno.
int take_free_name(const std::string& from, const std::string& path, std::string& taken);

}  // namespace gapscope
