#pragma once
// The only way in which the program writes files that stay: settings, saved views, crops, pictures, tables.
//
// Contract. A file appears whole or not at all, and until then what was there stays as it is, whatever happens (no room, an
// error, a signal): it is written as a temporary_file.h in its folder, synced, and takes the name at the end. Of two that
// write one file the later wins whole. A file that was there keeps its permissions and, where that is allowed, its owner.
// A symbolic link stays, and what it leads to is written. Devices, FIFOs, sockets, "-" and "/dev/stdout" (standard output) and
// "/dev/fd/N" are written through as the text comes, and never replaced. A file that is being read is refused, whatever
// name it goes by.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/temporary_file.h"

struct stat;

namespace gapscope {

enum class IfTaken { replace, number };  // number: what is there stays, and the file is called "x-2.png", "x-3.png", ...

struct OutputOptions {
  std::span<const std::string> inputs{};  // paths of what is being read; "-" is standard input
  IfTaken if_taken = IfTaken::replace;
  bool synced = true;  // false: may be lost when the power fails; for what is written again all the time
};

class OutputFile {
 public:
  // Errors are sentences with the path in them. A FIFO is waited for until it has a reader.
  static Result<std::unique_ptr<OutputFile>> create(const std::string& path, const OutputOptions& options = {});
  // Without finish(), nothing stays of it.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // After a failure further text is ignored; finish() says why.
  void write(std::string_view text);
  bool failed() const { return trouble_ != 0; }
  // Everything is written, checked and in its place; or the Error says what is wrong, and what was there is as it was.
  std::optional<Error> finish();
  // As it was given, or the name that was free; after finish().
  const std::string& path() const { return path_; }

 private:
  struct Target;
  OutputFile(std::string path, const OutputOptions& options);
  std::optional<Error> open(const Target& target);
  std::optional<Error> begin(const std::string& target);
  bool is_input(const Target& target) const;
  void put(std::string_view text);
  void keep_owner_and_mode();
  int put_in_place();
  Error failure() const;
  std::optional<Error> trouble_so_far() const;

  std::string path_;
  OutputOptions options_;
  std::string shown_;                         // the path for a sentence
  std::unique_ptr<TemporaryFile> temporary_;  // null: it is written through
  int through_ = -1;
  std::string name_;                        // to be taken in the temporary's folder
  std::unique_ptr<const struct stat> was_;  // what is to be replaced; null: nothing
  std::string buffer_;
  int trouble_ = 0;  // errno of the first failure
};

// All of it at once. What it returns is the path that was written.
Result<std::string> write_file(const std::string& path, std::string_view text, const OutputOptions& options = {});

// Whether `path` leads to where standard output goes, so that nothing else may be printed there.
bool is_standard_output(const std::string& path);

}  // namespace gapscope
