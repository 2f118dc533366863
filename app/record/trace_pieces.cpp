#include "app/record/trace_pieces.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace gapscope {
namespace {

constexpr int kLevel = 1;           // the program that is recorded should keep its processor
constexpr int kGzipWindow = 15 + 16;  // zlib's word for a gzip header

std::string trouble(const std::string& path, const char* what) {
  return path + ": " + what + " (" + std::strerror(errno) + "). Is there room, and may you write there?";
}

std::string packed(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib's interface is not const
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Length of the whole members at the front of a gzip file.
off_t whole_members(int file) {
  z_stream stream{};
  inflateInit2(&stream, kGzipWindow);
  std::vector<unsigned char> in(1 << 16), out(1 << 18);
  off_t read_so_far = 0, whole = 0;
  ssize_t n = 0;
  while ((n = pread(file, in.data(), in.size(), read_so_far)) > 0) {
    stream.next_in = in.data();
    stream.avail_in = static_cast<uInt>(n);
    while (stream.avail_in > 0) {
      stream.next_out = out.data();
      stream.avail_out = static_cast<uInt>(out.size());
      const int result = inflate(&stream, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        whole = read_so_far + n - static_cast<off_t>(stream.avail_in);
        inflateReset(&stream);
      } else if (result != Z_OK) {
        inflateEnd(&stream);
        return whole;
      }
    }
    read_so_far += n;
  }
  inflateEnd(&stream);
  return whole;
}

// Length up to the last line's end: events never hold a raw newline.
off_t whole_lines(int file) {
  std::vector<char> in(1 << 16);
  for (off_t end = lseek(file, 0, SEEK_END); end > 0;) {
    const off_t begin = end > static_cast<off_t>(in.size()) ? end - static_cast<off_t>(in.size()) : 0;
    const ssize_t n = pread(file, in.data(), static_cast<std::size_t>(end - begin), begin);
    if (n <= 0) return 0;
    if (const void* newline = memrchr(in.data(), '\n', static_cast<std::size_t>(n)))
      return begin + (static_cast<const char*>(newline) - in.data()) + 1;
    end = begin;
  }
  return 0;
}

}  // namespace

std::string TracePieces::open(const std::string& path) {
  path_ = path;
  gzip_ = path.ends_with(".gz");
  file_ = ::open(partial_name(path).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  return file_ < 0 ? trouble(path, "cannot be written") : std::string();
}

std::string TracePieces::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(file_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return trouble(path_, "could not be written to its end");
    text.remove_prefix(static_cast<std::size_t>(n));
    bytes_ += static_cast<std::uint64_t>(n);
  }
  return {};
}

std::string TracePieces::add(std::string_view text) {
  if (file_ < 0 || text.empty()) return {};
  return write(gzip_ ? packed(text) : std::string(text) + '\n');  // whole lines are what can be told from cut ones
}

std::string TracePieces::finish(std::string_view tail) {
  if (file_ < 0) return {};
  std::string wrong = add(tail);
  if (close(file_) != 0 && wrong.empty()) wrong = trouble(path_, "could not be written to its end");
  file_ = -1;
  if (wrong.empty() && std::rename(partial_name(path_).c_str(), path_.c_str()) != 0) wrong = trouble(path_, "cannot be given its name");
  return wrong;
}

void TracePieces::discard() {
  if (file_ < 0) return;
  close(file_);
  file_ = -1;
  unlink(partial_name(path_).c_str());
}

// Left without an end: the file keeps the name that says so.
TracePieces::~TracePieces() {
  if (file_ >= 0) close(file_);
}

std::string finish_partial(const std::string& path, std::string_view tail) {
  const std::string partial = TracePieces::partial_name(path);
  const int file = ::open(partial.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return trouble(partial, "cannot be opened");
  const bool gzip = path.ends_with(".gz");
  const off_t whole = gzip ? whole_members(file) : whole_lines(file);
  const std::string end = gzip ? packed(tail) : std::string(tail);
  const bool cut = ftruncate(file, whole) == 0 && pwrite(file, end.data(), end.size(), whole) == static_cast<ssize_t>(end.size());
  const bool closed = close(file) == 0;
  if (whole == 0) return partial + ": nothing in it is whole, so it is no trace.";
  if (!cut || !closed || std::rename(partial.c_str(), path.c_str()) != 0) return trouble(path, "could not be finished");
  return {};
}

}  // namespace gapscope
