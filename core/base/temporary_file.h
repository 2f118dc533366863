#pragma once
// A file that has no name yet, or a random one, until it is whole. It needs nothing but the C library, since the
// recorder brings it into other programs. What fails is reported as an errno; 0 is none.
//
// Contract: where the file system can (O_TMPFILE), the file has no name at all while it is written, so that nothing stays of
// it however the program ends. Elsewhere it has an unpredictable name (".gapscope-" and 13 characters, made with O_EXCL) in
// its folder, which the destructor takes away and, after remove_temporaries_when_killed(), SIGINT, SIGTERM and SIGHUP, too.
#include <string>
#include <string_view>

#include <sys/types.h>

namespace gapscope {

inline constexpr std::string_view kTemporaryPrefix = ".gapscope-";

class TemporaryFile {
 public:
  // In `folder`, to be read and written; trouble() when there can be none. `mode` is lessened by the umask.
  // `may_be_nameless` is false only to see what happens where it cannot be.
  TemporaryFile(const std::string& folder, mode_t mode, bool may_be_nameless = true);
  // Without replace() or take(), nothing stays.
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int trouble() const { return trouble_; }
  int fd() const { return fd_; }
  // Gives it the name `name` in its folder, whatever had that name before. Either all of it happens or nothing.
  int replace(const std::string& name);
  // The same, unless a file has that name: EEXIST, and another name may be tried.
  int take(const std::string& name);
  // The text outlasts a loss of power: to be called before it has a name, or one may find the name with nothing in it.
  int sync();
  // Closes the file, which reports late write errors of the file system. `synced`: the name outlasts a loss of power, too.
  int close(bool synced);

 private:
  int name_it();
  void forget_name();

  int folder_ = -1;
  int fd_ = -1;
  int trouble_ = 0;
  int slot_ = -1;     // of the list of names to be taken away
  std::string name_;  // empty: it has none
};

// `from` gets the name `to` unless a file has it: EEXIST. Both are relative to the open folder (AT_FDCWD: the working one),
// and in one file system.
int rename_unless_taken(int folder, const char* from, const char* to);

// The n-th name after `path`: "a/b.json.gz" gives "a/b-2.json.gz" for 2. A packing's ending goes with the one before it.
std::string numbered(std::string_view path, int n);
// The same with another word there.
std::string before_ending(std::string_view path, std::string_view word);

// Whether it is in a temporary folder of ours, or such a file: gone when the program ends.
bool is_temporary(std::string_view path);

// From now on SIGINT, SIGTERM and SIGHUP take away the temporaries that have a name, and then end the program as they would
// have. Signals that are ignored (nohup) or handled already are left alone. For the program's own main, never for a library
// inside another one.
void remove_temporaries_when_killed();
// Takes them away now; may be called by a handler of signals that ends the program.
void remove_temporaries() noexcept;

}  // namespace gapscope
