// How values get from one tensor into another. Within a device a kernel does it, whatever the strides and types.
// Between host and card only whole runs of bytes travel, so anything else goes through a contiguous temporary on one
// side:
//
//   host, strided  --hidden copy-->  host, contiguous  ==transfer==>  card
//
// Types are converted on the host when the copy blocks, which spares card memory, and on the card when it does not,
// which spares the host the wait (PyTorch's rule). Between two cards of a type the source packs and converts, and the
// bytes go over directly; between cards of two types they go by way of the host. Read next: ../ops/copy.cpp (the calls
// of a tensor, with their gradients).
#include "device/registry.hpp"
#include "device/thread_state.hpp"
#include "labrig/error.hpp"
#include "labrig/stream.hpp"
#include "tensor/impl.hpp"
#include "tensor/names.hpp"
#include "tensor/view.hpp"

namespace labrig {
namespace {

using trace::Cause;

void record(trace::Kind kind, Cause cause, Device device, StreamId stream, std::size_t bytes, const std::string& name) {
  if (trace::recording()) trace::record({kind, cause, device, stream, bytes, 0, name});
}

// Bytes of a contiguous tensor to one of the same type and shape; at least one of them is on a card.
void transfer(const Tensor& dst, const Tensor& src, bool non_blocking, Cause cause) {
  if (dst.numel() == 0) return;
  const bool up = src.device().is_cpu(), down = dst.device().is_cpu();
  const auto slot = impl_of(up ? dst : src).storage->slot();
  const Storage& host = *impl_of(up ? src : dst).storage;
  CopyRequest request;
  request.direction = up ? CopyDirection::up : down ? CopyDirection::down : CopyDirection::within;
  request.destination = dst.data_ptr();
  request.source = src.data_ptr();
  request.bytes = src.nbytes();
  request.pinned = host.is_pinned_for(slot->device().type());
  request.non_blocking = non_blocking;
  request.cause = cause;
  request.stream = current_stream_id(slot->device());
  request.name = src.name();
  const auto kind = up ? trace::Kind::upload : down ? trace::Kind::download : trace::Kind::device_copy;
  record(kind, cause, slot->device(), request.stream, request.bytes, src.name());
  if (!request.pinned && (up || down)) announce_host_access(impl_of(up ? src : dst), down);
  slot->backend().copy(request);
  if (non_blocking && request.pinned) host.record_use(*slot, request.stream);
  // The host has waited: a copy that blocks, and every copy into memory that the card cannot reach by itself.
  const bool waits = (up || down) && (!non_blocking || (down && !request.pinned));
  if (waits) {
    const Cause why = cause == Cause::value ? Cause::value : Cause::copy;
    record(trace::Kind::sync, why, slot->device(), request.stream, 0, src.name());
  }
}

// Bytes of a contiguous tensor to one of the same type and shape on another card of the same type. The copy is work in
// the source's current stream: it waits for what the destination's current stream may still do with that memory, and
// that stream waits for the copy.
void transfer_to_peer(const Tensor& dst, const Tensor& src, Cause cause) {
  if (dst.numel() == 0) return;
  const Stream source = current_stream(src.device()), destination = current_stream(dst.device());
  CopyRequest request;
  request.direction = CopyDirection::peer;
  request.destination = dst.data_ptr();
  request.source = src.data_ptr();
  request.bytes = src.nbytes();
  request.non_blocking = true;
  request.cause = cause;
  request.stream = source.id();
  request.name = src.name();
  request.peer = dst.device();
  source.wait_stream(destination);
  record(trace::Kind::device_copy, cause, src.device(), request.stream, request.bytes, src.name());
  backend_of(src.device()).copy(request);
  destination.wait_stream(source);
}

// Both on one device, `src` broadcasts to `dst`.
void copy_within(const Tensor& dst, const Tensor& src, Cause cause) {
  const bool plain =
      dst.dtype() == src.dtype() && dst.sizes() == src.sizes() && dst.is_contiguous() && src.is_contiguous();
  if (plain && !dst.device().is_cpu()) return transfer(dst, src, true, cause);
  KernelCall call;
  call.kernel = Kernel::copy;
  call.push(operand_of(dst, Access::write));
  call.push(operand_of(src, Access::read));
  call.scalars[0] = cause == Cause::hidden;
  launch(dst, call);
}

// `src` in the shape of `dst`, contiguous, of type `dtype`, on its own device; itself when it is that already.
Tensor ready_to_send(const Tensor& src, Dtype dtype) {
  if (src.is_contiguous() && src.dtype() == dtype) return src;
  return contiguous_copy(src, dtype, src.is_contiguous() ? Cause::asked : Cause::hidden);
}

// Between host and card, or two cards of a type; `src` has the shape of `dst`.
void copy_across(const Tensor& dst, const Tensor& src, bool non_blocking, Cause cause) {
  const bool peers = !dst.device().is_cpu() && !src.device().is_cpu();
  const auto send = [&](const Tensor& to, const Tensor& from) {
    peers ? transfer_to_peer(to, from, cause) : transfer(to, from, non_blocking, cause);
  };
  const bool convert_at_source = peers || dst.dtype() == src.dtype() || src.device().is_cpu() == !non_blocking;
  const Dtype sent = convert_at_source ? dst.dtype() : src.dtype();
  const Tensor from = ready_to_send(src, sent);
  if (dst.is_contiguous() && dst.dtype() == sent) return send(dst, from);
  const Tensor landed = make_tensor(dst.sizes(), {sent, dst.device()}, src.name());
  send(landed, from);
  copy_within(dst, landed, dst.is_contiguous() ? Cause::asked : Cause::hidden);
}

}  // namespace

Tensor contiguous_copy(const Tensor& src, Dtype dtype, Cause cause) {
  Tensor result = make_tensor(src.sizes(), {dtype, src.device()}, src.name());
  copy_within(result, src, cause);
  return with_origin(std::move(result), Origin::copy_of(src.name(), src.device(), "clone"));
}

void copy_values(const Tensor& dst, const Tensor& src, bool non_blocking, Cause cause) {
  if (dst.is_same(src)) return;
  check_fills(dst.sizes(), src.sizes());
  if (dst.device() == src.device()) return copy_within(dst, src, cause);
  const Tensor from = src.sizes() == dst.sizes() ? src : src.expand(dst.sizes());
  const bool cards = !dst.device().is_cpu() && !src.device().is_cpu();
  if (cards && dst.device().type() != src.device().type()) {
    const Tensor on_host = make_tensor(from.sizes(), {from.dtype(), Device{}}, src.name());
    copy_across(on_host, from, false, cause);
    return copy_across(dst, on_host, non_blocking, cause);
  }
  copy_across(dst, from, non_blocking, cause);
}

}  // namespace labrig
