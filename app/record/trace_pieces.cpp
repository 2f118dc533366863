#include "app/record/trace_pieces.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "core/base/temporary_file.h"

namespace gapscope {
namespace {

constexpr int kLevel = 1;             // the program that is recorded should keep its processor
constexpr int kGzipWindow = 15 + 16;  // zlib's word for a gzip header
constexpr int kMostNames = 100'000;

std::string trouble(const std::string& path, const char* what, int why) {
  return path + ": " + what + " (" + std::strerror(why) + "). Is there room, and may you write there?";
}

std::string packed(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  struct End {
    z_stream& stream;
    ~End() { deflateEnd(&stream); }
  } end{stream};
  std::string out(deflateBound(&stream, text.size()), '\0');
  constexpr std::size_t kMost = 1 << 30;  // zlib counts in 32 bits
  int result = Z_OK;
  for (std::size_t in = 0, made = 0; result == Z_OK;) {
    const std::size_t given = std::min(kMost, text.size() - in), room = std::min(kMost, out.size() - made);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data() + in));  // zlib's interface is not const
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = static_cast<uInt>(room);
    result = deflate(&stream, in + given == text.size() ? Z_FINISH : Z_NO_FLUSH);
    in += given - stream.avail_in;
    made += room - stream.avail_out;
  }
  if (result != Z_STREAM_END) throw std::bad_alloc();
  out.resize(stream.total_out);
  return out;
}

// 0, or errno.
int write_all(int file, std::string_view bytes, off_t at) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(file, bytes.data(), bytes.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : ENOSPC;
    bytes.remove_prefix(static_cast<std::size_t>(n));
    at += n;
  }
  return 0;
}

// 0, or errno. Files that know no syncing are none the worse.
int sync_file(int file) { return fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno; }

enum class Lock { taken, held, unknown };

Lock lock(int file, int how) {
  while (flock(file, how | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    return errno == EWOULDBLOCK ? Lock::held : Lock::unknown;
  }
  return Lock::taken;
}

// One who only looks whether the file is held holds it for a moment, too.
Lock lock_patiently(int file) {
  constexpr int kTries = 10;
  constexpr useconds_t kPause = 20'000;
  Lock result = lock(file, LOCK_EX);
  for (int i = 0; i < kTries && result == Lock::held; ++i) {
    usleep(kPause);
    result = lock(file, LOCK_EX);
  }
  return result;
}

struct Whole {
  off_t length = 0;
  std::string end;  // of the text in it, some bytes
};

void keep_end(std::string& end, std::string_view text) {
  constexpr std::size_t kKept = 64;
  end.append(text.substr(text.size() - std::min(text.size(), kKept)));
  end.erase(0, end.size() - std::min(end.size(), kKept));
}

// The whole members at the front of a gzip file.
Whole whole_members(int file) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw std::bad_alloc();
  struct End {
    z_stream& stream;
    ~End() { inflateEnd(&stream); }
  } close{stream};
  std::vector<unsigned char> in(1 << 16), out(1 << 18);
  Whole whole;
  std::string end;
  off_t read_so_far = 0;
  ssize_t n = 0;
  while ((n = pread(file, in.data(), in.size(), read_so_far)) > 0) {
    stream.next_in = in.data();
    stream.avail_in = static_cast<uInt>(n);
    while (stream.avail_in > 0) {
      stream.next_out = out.data();
      stream.avail_out = static_cast<uInt>(out.size());
      const int result = inflate(&stream, Z_NO_FLUSH);
      keep_end(end, {reinterpret_cast<const char*>(out.data()), out.size() - stream.avail_out});
      if (result == Z_STREAM_END) {
        whole = {read_so_far + n - static_cast<off_t>(stream.avail_in), end};
        inflateReset(&stream);
      } else if (result != Z_OK) {
        return whole;
      }
    }
    read_so_far += n;
  }
  return whole;
}

// Up to the last line's end: events never hold a raw newline.
Whole whole_lines(int file) {
  std::vector<char> in(1 << 16);
  for (off_t end = lseek(file, 0, SEEK_END); end > 0;) {
    const off_t begin = end > static_cast<off_t>(in.size()) ? end - static_cast<off_t>(in.size()) : 0;
    const ssize_t n = pread(file, in.data(), static_cast<std::size_t>(end - begin), begin);
    if (n <= 0) return {};
    if (const void* newline = memrchr(in.data(), '\n', static_cast<std::size_t>(n))) {
      Whole whole{begin + (static_cast<const char*>(newline) - in.data()) + 1, {}};
      std::array<char, 64> last{};
      const off_t from = std::max<off_t>(0, whole.length - static_cast<off_t>(last.size()));
      const ssize_t read = pread(file, last.data(), static_cast<std::size_t>(whole.length - from), from);
      if (read > 0) whole.end.assign(last.data(), static_cast<std::size_t>(read));
      return whole;
    }
    end = begin;
  }
  return {};
}

bool is_gzip(int file) {
  std::array<unsigned char, 2> magic{};
  return pread(file, magic.data(), magic.size(), 0) == 2 && magic[0] == 0x1F && magic[1] == 0x8B;
}

// A writer adds a newline to its tail.
bool ends_with(std::string_view text, std::string_view tail) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  while (tail.ends_with('\n')) tail.remove_suffix(1);
  return text.ends_with(tail);
}

Rescued rescue_open(int file, const std::string& piece, const std::string& path, std::string_view tail) {
  const bool gzip = is_gzip(file);
  const Whole whole = gzip ? whole_members(file) : whole_lines(file);
  if (whole.length == 0) {
    unlink(piece.c_str());
    return {Rescued::What::empty, {}, piece + ": it has no complete event, so it is not a trace."};
  }
  int why = ftruncate(file, whole.length) == 0 ? 0 : errno;
  if (why == 0 && !ends_with(whole.end, tail)) why = write_all(file, gzip ? packed(tail) : std::string(tail), whole.length);
  if (why == 0) why = sync_file(file);
  std::string taken;
  if (why == 0) why = take_free_name(piece, path, taken);
  if (why == 0) return {Rescued::What::finished, taken, {}};
  return {Rescued::What::failed, {}, trouble(piece, "could not be finished", why)};
}

}  // namespace

int take_free_name(const std::string& from, const std::string& path, std::string& taken) {
  int why = EEXIST;
  for (int number = 1; number < kMostNames && why == EEXIST; ++number) {
    taken = number == 1 ? path : numbered(path, number);
    why = rename_unless_taken(AT_FDCWD, from.c_str(), taken.c_str());
  }
  if (why != 0) taken.clear();
  return why;
}

// The lock is taken after the file exists: a concurrent cleanup may already have removed the file.
std::string TracePieces::open(const std::string& path, const PieceOwner& owner) {
  constexpr int kAttempts = 100;
  path_ = path;
  gzip_ = path.ends_with(".gz");
  int why = EEXIST;
  for (int attempt = 0; attempt < kAttempts && why == EEXIST; ++attempt) {
    piece_ = piece_path(path, owner, attempt);
    file_ = ::open(piece_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    why = file_ < 0 ? errno : 0;
    if (why != 0) continue;
    const bool held = lock(file_, LOCK_EX) == Lock::held;
    struct stat now {};
    if (!held && fstat(file_, &now) == 0 && now.st_nlink > 0) return {};
    discard();
    why = EEXIST;
  }
  return trouble(path, "cannot be written", why);
}

std::string TracePieces::write(std::string_view text) {
  if (const int why = write_all(file_, text, bytes_); why != 0) {
    failed_ = true;
    [[maybe_unused]] const int cut = ftruncate(file_, bytes_);  // half a piece could not be read
    return trouble(path_, "could not be written to its end", why);
  }
  last_ = bytes_;
  bytes_ += static_cast<off_t>(text.size());
  return {};
}

std::string TracePieces::add(std::string_view text) {
  if (file_ < 0 || failed_ || text.empty()) return {};
  return write(gzip_ ? packed(text) : std::string(text) + '\n');  // whole lines can be distinguished from cut ones
}

std::string TracePieces::finish(std::string_view tail) {
  if (failed_ && bytes_ == 0) discard();  // an end alone is no trace
  if (file_ < 0) return {};
  const std::string end = gzip_ ? packed(tail) : std::string(tail) + '\n';
  const std::string no_room = write(end);
  std::string wrong = no_room;
  if (!no_room.empty() && last_ > 0 && ftruncate(file_, last_) == 0) {
    bytes_ = last_;
    wrong = write(end);
  }
  if (wrong.empty())
    if (const int why = sync_file(file_); why != 0) wrong = trouble(path_, "could not be written to its end", why);
  if (wrong.empty())
    if (const int why = take_free_name(piece_, path_, taken_); why != 0)
      wrong = trouble(path_, "cannot be given its name", why);
  abandon();
  return wrong.empty() ? no_room : wrong;
}

void TracePieces::discard() {
  if (file_ < 0) return;
  unlink(piece_.c_str());
  abandon();
}

void TracePieces::abandon() {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

Rescued rescue(const std::string& piece, const std::string& path, std::string_view tail) {
  const int file = ::open(piece.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return {Rescued::What::failed, {}, trouble(piece, "cannot be opened", errno)};
  struct Close {
    int file;
    ~Close() { close(file); }
  } end{file};
  const Lock result = lock_patiently(file);
  if (result == Lock::held) return {Rescued::What::written, {}, {}};
  if (result == Lock::unknown) return {Rescued::What::unknown, {}, {}};
  struct stat here {
  }, named{};
  const bool same = fstat(file, &here) == 0 && lstat(piece.c_str(), &named) == 0 && here.st_ino == named.st_ino &&
                    here.st_dev == named.st_dev;
  if (!same) return {Rescued::What::gone, {}, {}};
  return rescue_open(file, piece, path, tail);
}

bool may_be_written(const std::string& piece) {
  const int file = ::open(piece.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return true;
  struct stat now {};
  const bool begun =
      fstat(file, &now) == 0 && S_ISREG(now.st_mode) && now.st_size > 0;  // an empty one may be about to be locked
  const bool held = !begun || lock(file, LOCK_SH) != Lock::taken;
  close(file);
  return held;
}

}  // namespace gapscope
