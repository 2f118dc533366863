#include "app/web/url_files.h"

#include <backend.h>
#include <emscripten/em_js.h>
#include <emscripten/wasmfs.h>
#include <file.h>
#include <memory_backend.h>
#include <unistd.h>
#include <wasmfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/web/url_stream.h"

namespace gapscope {
namespace {

// A request a piece: the first is small enough for one slice's args, a second follows where reading continues from it, and then
// all the rest comes in one request.
constexpr std::uint64_t kFirstPieceBytes = std::uint64_t{256} << 10;
constexpr std::uint64_t kSecondPieceBytes = std::uint64_t{1} << 20;
constexpr std::size_t kPieces = 8;  // as many threads may read, each in a place of its own

// How many bytes there were; negative: the request failed, or the file is another one by now.
EM_JS(int, gapscope_read_url, (const char* url, double offset, int size, double whole, void* into), {
  const request = new XMLHttpRequest();
  try {
    request.open("GET", UTF8ToString(url), false);
    request.responseType = "arraybuffer";
    request.setRequestHeader("Range", "bytes=" + offset + "-" + (offset + size - 1));
    request.send();
  } catch (error) {
    return -1;
  }
  let got = new Uint8Array(request.response || new ArrayBuffer(0));
  if (request.status == 200 && got.length == whole)
    got = got.subarray(offset, offset + size);
  else if (request.status != 206)
    return -1;
  const range = request.getResponseHeader("Content-Range");
  if (range && !range.endsWith("/" + whole)) return -1;
  if (got.length > size) return -1;
  HEAPU8.set(got, into);
  return got.length;
})

class UrlFile final : public wasmfs::DataFile {
 public:
  UrlFile(mode_t mode, wasmfs::backend_t backend, std::string url, std::uint64_t bytes)
      : DataFile(mode, backend), url_(std::move(url)), bytes_(bytes) {}

 private:
  int open(wasmfs::oflags_t) override {
    ++users_;
    return 0;
  }
  int close() override {
    if (--users_ == 0) stream_.reset();
    return 0;
  }
  ssize_t write(const std::uint8_t*, std::size_t, off_t) override { return -EROFS; }
  int flush() override { return 0; }
  off_t getSize() override { return static_cast<off_t>(bytes_); }
  int setSize(off_t) override { return -EROFS; }

  // The file system calls it by one thread at a time.
  ssize_t read(std::uint8_t* into, std::size_t size, off_t from) override {
    const auto offset = static_cast<std::uint64_t>(from);
    if (offset >= bytes_) return 0;
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size, bytes_ - offset));
    std::size_t done = 0;
    while (done < wanted) {
      if (const std::size_t n = read_stream(offset + done, into + done, wanted - done); n > 0) {
        done += n;
        continue;
      }
      const Piece* const piece = piece_with(offset + done);
      if (!piece) return -EIO;
      const std::size_t at = static_cast<std::size_t>(offset + done - piece->begin);
      const std::size_t n = std::min(wanted - done, piece->bytes.size() - at);
      std::memcpy(into + done, piece->bytes.data() + at, n);
      done += n;
    }
    return static_cast<ssize_t>(done);
  }

  struct Piece {
    std::uint64_t begin = 0;  // in the file
    std::vector<char> bytes;
    std::uint64_t used = 0;  // of clock_

    std::uint64_t end() const { return begin + bytes.size(); }
  };

  // 0 where the bytes at `offset` are not the next of a stream, or do not come by it.
  std::size_t read_stream(std::uint64_t offset, std::uint8_t* into, std::size_t size) {
    const auto goes_on = [&](const Piece& piece) { return piece.bytes.size() > kFirstPieceBytes && piece.end() == offset; };
    if (std::any_of(pieces_.begin(), pieces_.end(), goes_on)) stream_.emplace(url_, offset, bytes_);
    if (!stream_ || stream_->at() != offset) return 0;
    const std::size_t n = stream_->read(into, size);
    if (n == 0 || stream_->at() == bytes_) stream_.reset();
    return n;
  }

  // Null where it cannot be read.
  const Piece* piece_with(std::uint64_t offset) {
    const auto has = [&](const Piece& piece) { return piece.begin <= offset && offset < piece.end(); };
    auto piece = std::find_if(pieces_.begin(), pieces_.end(), has);
    if (piece == pieces_.end()) {
      const auto ends_there = [&](const Piece& one) { return !one.bytes.empty() && one.end() == offset; };
      std::uint64_t wish = kFirstPieceBytes;
      if (piece = std::find_if(pieces_.begin(), pieces_.end(), ends_there); piece != pieces_.end())
        wish = kSecondPieceBytes;
      else
        piece =
            std::min_element(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.used < b.used; });
      fetch(*piece, offset, std::min(wish, bytes_ - offset));
    }
    piece->used = ++clock_;
    return piece->bytes.empty() ? nullptr : &*piece;
  }

  void fetch(Piece& piece, std::uint64_t offset, std::uint64_t bytes) {
    piece.begin = offset;
    piece.bytes.resize(static_cast<std::size_t>(bytes));
    const int got = gapscope_read_url(url_.c_str(), static_cast<double>(offset), static_cast<int>(bytes),
                                      static_cast<double>(bytes_), piece.bytes.data());
    piece.bytes.resize(static_cast<std::size_t>(std::max(got, 0)));
  }

  std::string url_;
  std::uint64_t bytes_;
  int users_ = 0;
  std::optional<UrlStream> stream_;
  std::array<Piece, kPieces> pieces_;
  std::uint64_t clock_ = 0;
};

// Makes one file: the one that was set before.
class UrlBackend final : public wasmfs::Backend {
 public:
  UrlBackend(std::string url, std::uint64_t bytes) : url_(std::move(url)), bytes_(bytes) {}
  std::shared_ptr<wasmfs::DataFile> createFile(mode_t mode) override {
    return std::make_shared<UrlFile>(mode, this, url_, bytes_);
  }
  std::shared_ptr<wasmfs::Directory> createDirectory(mode_t mode) override {
    return std::make_shared<wasmfs::MemoryDirectory>(mode, this);
  }
  std::shared_ptr<wasmfs::Symlink> createSymlink(std::string target) override {
    return std::make_shared<wasmfs::MemorySymlink>(target, this);
  }

 private:
  std::string url_;
  std::uint64_t bytes_;
};

}  // namespace

bool add_url_file(const std::string& path, std::string url, std::uint64_t bytes) {
  wasmfs::backend_t backend = wasmfs::wasmFS.addBackend(std::make_unique<UrlBackend>(std::move(url), bytes));
  const int fd = wasmfs_create_file(path.c_str(), 0444, reinterpret_cast<::backend_t>(backend));
  if (fd < 0) return false;
  ::close(fd);
  return true;
}

}  // namespace gapscope
