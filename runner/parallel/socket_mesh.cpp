#include "runner/parallel/socket_mesh.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace llmb::runner {
namespace {

// For the others to end, too: one whose node is gone never does.
constexpr std::chrono::milliseconds kGoodbyePatience{std::chrono::minutes(2)};

// A copy costs less than another call of the system.
constexpr std::size_t kSentWithItsStartMax = 4096;

enum class FrameKind : std::uint8_t { message, failure, goodbye };

// What every frame begins with; strings and payload follow in this order.
struct FrameHeader {
  std::uint32_t mark = 0x4C4D5232;
  FrameKind kind = FrameKind::message;
  std::uint8_t call = 0;  // CollectiveKind
  std::uint8_t type = 0;  // ElementType
  std::uint8_t reserved = 0;
  std::int32_t root = -1;
  std::uint32_t channel_bytes = 0;
  std::uint32_t tag_bytes = 0;
  std::uint32_t site_bytes = 0;
  std::uint64_t count = 0;
  std::uint64_t payload_bytes = 0;

  std::uint64_t body_bytes() const {
    return std::uint64_t{channel_bytes} + tag_bytes + site_bytes + payload_bytes;
  }
};
static_assert(sizeof(FrameHeader) == 40);

std::vector<std::byte> frame_start(FrameKind kind, const std::string& channel,
                                   const CallSignature& signature, std::size_t payload_bytes) {
  FrameHeader header;
  header.kind = kind;
  header.call = static_cast<std::uint8_t>(signature.kind);
  header.type = static_cast<std::uint8_t>(signature.type);
  header.root = signature.root;
  header.channel_bytes = static_cast<std::uint32_t>(channel.size());
  header.tag_bytes = static_cast<std::uint32_t>(signature.tag_name.size());
  header.site_bytes = static_cast<std::uint32_t>(signature.site.size());
  header.count = signature.count;
  header.payload_bytes = payload_bytes;
  std::vector<std::byte> bytes;
  const auto append = [&](std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  append(std::as_bytes(std::span(&header, 1)));
  for (const std::string* text : {&channel, &signature.tag_name, &signature.site}) {
    append(std::as_bytes(std::span(*text)));
  }
  return bytes;
}

std::string text_at(const std::vector<std::byte>& body, std::size_t at, std::size_t count) {
  return {reinterpret_cast<const char*>(body.data()) + at, count};
}

}  // namespace

struct SocketMesh::Peer {
  explicit Peer(Socket connection) : socket(std::move(connection)) {}

  Socket socket;
  std::mutex writing;  // one frame at a time

  // The reader thread's own.
  FrameHeader header;
  bool is_in_body = false;
  std::vector<std::byte> body;
  std::size_t filled = 0;
  bool said_goodbye = false;
  bool is_closed = false;
  int error = 0;  // why it is; zero where the other end closed it
};

SocketMesh::SocketMesh(int rank, std::vector<Socket> connections,
                       std::chrono::milliseconds patience)
    : rank_(rank), patience_(patience), wake_descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_descriptor_ < 0) throw CommunicationError("no eventfd for the ranks' connections");
  for (Socket& connection : connections) {
    peers_.push_back(connection.is_open() ? std::make_unique<Peer>(std::move(connection))
                                          : nullptr);
  }
  reader_ = std::thread([this] { read_all_peers(); });
}

SocketMesh::~SocketMesh() {
  const Deadline deadline =
      std::chrono::steady_clock::now() + std::min(patience_, kGoodbyePatience);
  const std::vector<std::byte> goodbye = frame_start(FrameKind::goodbye, "", {}, 0);
  for (const auto& peer : peers_) {
    if (!peer) continue;
    try {
      const std::lock_guard lock(peer->writing);
      peer->socket.write_all(goodbye, deadline, "say goodbye");
    } catch (const CommunicationError&) {  // it has gone already
    }
    shutdown(peer->socket.descriptor(), SHUT_WR);
  }
  {
    std::unique_lock lock(mutex_);
    const auto all_closed = [&] {
      return std::all_of(peers_.begin(), peers_.end(),
                         [](const auto& peer) { return !peer || peer->is_closed; });
    };
    changed_.wait_until(lock, deadline, [&] { return !failure_.empty() || all_closed(); });
    // After a failure the others end as well; a moment, so that they read why before the
    // connection goes.
    if (!failure_.empty()) changed_.wait_for(lock, std::chrono::seconds(2), all_closed);
  }
  is_closing_ = true;
  wake_reader();
  reader_.join();
  close(wake_descriptor_);
}

void SocketMesh::wake_reader() const {
  const std::uint64_t one = 1;
  const ssize_t written = write(wake_descriptor_, &one, sizeof one);
  static_cast<void>(written);  // full already: it will wake
}

void SocketMesh::throw_if_failed() const {
  if (failure_.empty()) return;
  if (is_own_failure_) throw CommunicationError(failure_);
  throw PeerFailure(failure_);
}

std::string SocketMesh::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void SocketMesh::fail_here(const std::string& reason, bool is_own) {
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) return;
  failure_ = reason;
  is_own_failure_ = is_own;
  changed_.notify_all();
}

void SocketMesh::fail_everywhere(const std::string& reason) {
  fail_here(reason, true);
  const auto text = std::as_bytes(std::span(reason));
  const std::vector<std::byte> start = frame_start(FrameKind::failure, "", {}, text.size());
  const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (const auto& peer : peers_) {
    if (!peer) continue;
    try {
      const std::lock_guard lock(peer->writing);
      peer->socket.write_all(start, deadline, "tell of a failure");
      peer->socket.write_all(text, deadline, "tell of a failure");
    } catch (const CommunicationError&) {  // it is in trouble itself
    }
  }
}

void SocketMesh::send(int to, const std::string& channel, const CallSignature& signature,
                      std::span<const std::byte> payload) {
  {
    const std::lock_guard lock(mutex_);
    throw_if_failed();
    if (to == rank_) {
      mailboxes_[{rank_, channel}].push_back({signature, {payload.begin(), payload.end()}, 0});
      changed_.notify_all();
      return;
    }
  }
  Peer& peer = *peers_[static_cast<std::size_t>(to)];
  std::vector<std::byte> start =
      frame_start(FrameKind::message, channel, signature, payload.size());
  if (payload.size() <= kSentWithItsStartMax) {
    start.insert(start.end(), payload.begin(), payload.end());
    payload = {};
  }
  const Deadline deadline = std::chrono::steady_clock::now() + patience_;
  const std::string what = fmt::format("send to rank {} in {}", to, signature.str());
  try {
    const std::lock_guard lock(peer.writing);
    peer.socket.write_all(start, deadline, what);
    peer.socket.write_all(payload, deadline, what);
  } catch (const CommunicationError& error) {
    const std::lock_guard lock(mutex_);
    throw_if_failed();  // why the connection broke, where that is known
    throw PeerFailure(error.what());
  }
}

std::string SocketMesh::unheard(int from, const std::string& what,
                                const CallSignature& wanted) const {
  std::string text =
      fmt::format("rank {} waited for rank {} in {}: {}", rank_, from, wanted.str(), what);
  for (const auto& [channel, messages] : mailboxes_) {
    if (channel.first != from || messages.empty()) continue;
    text += "; it did send " + messages.front().signature.str();
  }
  return text;
}

MeshMessage SocketMesh::receive(int from, const std::string& channel, const CallSignature& wanted,
                                int patiences) {
  std::string wrong;
  {
    std::unique_lock lock(mutex_);
    std::deque<MeshMessage>& mailbox = mailboxes_[{from, channel}];
    const Peer* peer = peers_[static_cast<std::size_t>(from)].get();
    const bool is_awake = changed_.wait_for(lock, patience_ * patiences, [&] {
      return !mailbox.empty() || !failure_.empty() || (peer != nullptr && peer->is_closed);
    });
    if (!mailbox.empty()) {
      MeshMessage message = std::move(mailbox.front());
      mailbox.pop_front();
      return message;
    }
    throw_if_failed();
    wrong = unheard(from, is_awake ? "it has ended" : "nothing came in time", wanted);
  }
  fail_everywhere(wrong);
  throw CommunicationError(wrong);
}

void SocketMesh::peer_is_gone(int rank, Peer& peer) {
  const std::lock_guard lock(mutex_);
  peer.is_closed = true;
  if (!peer.said_goodbye && failure_.empty()) {
    const std::string how =
        peer.error == 0 ? "closed" : fmt::format("broke: {}", std::strerror(peer.error));
    failure_ = fmt::format("rank {} has vanished: its connection {}", rank, how);
    is_own_failure_ = false;
  }
  changed_.notify_all();
}

void SocketMesh::deliver(int rank, Peer& peer) {
  const FrameHeader& header = peer.header;
  switch (header.kind) {
    case FrameKind::goodbye:
      peer.said_goodbye = true;
      return;
    case FrameKind::failure:
      return fail_here(text_at(peer.body, 0, peer.body.size()), false);
    case FrameKind::message:
      break;
  }
  const std::size_t tag_at = header.channel_bytes;
  const std::size_t site_at = tag_at + header.tag_bytes;
  MeshMessage message;
  message.signature = {static_cast<CollectiveKind>(header.call),
                       static_cast<ElementType>(header.type),
                       header.count,
                       header.root,
                       text_at(peer.body, tag_at, header.tag_bytes),
                       text_at(peer.body, site_at, header.site_bytes)};
  std::string channel = text_at(peer.body, 0, header.channel_bytes);
  message.payload_offset = site_at + header.site_bytes;
  message.body = std::move(peer.body);
  const std::lock_guard lock(mutex_);
  mailboxes_[{rank, std::move(channel)}].push_back(std::move(message));
  changed_.notify_all();
}

// Reads what is there. False where the connection has ended.
bool SocketMesh::read_some(int rank, Peer& peer) {
  while (true) {
    auto* header = reinterpret_cast<std::byte*>(&peer.header);
    std::byte* into = (peer.is_in_body ? peer.body.data() : header) + peer.filled;
    const std::size_t needed = peer.is_in_body ? peer.body.size() : sizeof peer.header;
    if (peer.filled < needed) {
      const ssize_t got = recv(peer.socket.descriptor(), into, needed - peer.filled, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
      if (got < 0) peer.error = errno;
      if (got <= 0) return false;
      peer.filled += static_cast<std::size_t>(got);
      if (peer.filled < needed) continue;
    }
    peer.filled = 0;
    if (!peer.is_in_body) {
      if (peer.header.mark != FrameHeader().mark) return false;  // nothing that ranks say
      peer.body.resize(peer.header.body_bytes());
      peer.is_in_body = true;
      if (!peer.body.empty()) continue;
    }
    peer.is_in_body = false;
    deliver(rank, peer);
  }
}

void SocketMesh::read_all_peers() {
  // Costs what there is to read, and not what there are of ranks.
  const Socket watch(epoll_create1(EPOLL_CLOEXEC));
  const auto add = [&](int descriptor, int rank) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = rank;
    return epoll_ctl(watch.descriptor(), EPOLL_CTL_ADD, descriptor, &event) == 0;
  };
  bool is_watching = watch.is_open() && add(wake_descriptor_, rank_);
  for (int rank = 0; rank < size(); ++rank) {
    const Peer* peer = peers_[static_cast<std::size_t>(rank)].get();
    if (peer != nullptr) is_watching = is_watching && add(peer->socket.descriptor(), rank);
  }
  constexpr const char* kUnreadable = "the ranks' connections cannot be read";
  if (!is_watching) return fail_here(kUnreadable, true);
  std::array<epoll_event, 64> events{};
  while (!is_closing_) {
    const int count = epoll_wait(watch.descriptor(), events.data(), events.size(), -1);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_here(kUnreadable, true);
    for (const epoll_event& event : std::span(events).first(static_cast<std::size_t>(count))) {
      const int rank = event.data.fd;
      if (rank == rank_) continue;  // woken, to end
      Peer& peer = *peers_[static_cast<std::size_t>(rank)];
      if (read_some(rank, peer)) continue;
      epoll_ctl(watch.descriptor(), EPOLL_CTL_DEL, peer.socket.descriptor(), nullptr);
      peer_is_gone(rank, peer);
    }
  }
}

}  // namespace llmb::runner
