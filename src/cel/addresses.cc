// ip(), cidr() and what may be asked of them.
#include <string>

#include "cel/functions.h"

namespace berth::cel {
namespace {

// --- addresses
Value ToAddress(CallContext& context, Args a) {
  context.budget.SpendText(a[0].Text().size());
  const Result<Address> address = Address::Parse(a[0].Text());
  return address ? Value::FromAddress(*address) : Value::Error(address.error().Message());
}
Value IsAddress(CallContext& context, Args a) {
  return Value::Bool(!ToAddress(context, a).IsError());
}
Value IsCanonical(CallContext& context, Args a) {
  const Value address = ToAddress(context, a);
  if (address.IsError()) return address;
  return Value::Bool(address.AsAddress().Text() == a[0].Text());
}
Value AddressToString(CallContext&, Args a) { return Value::String(a[0].AsAddress().Text()); }
Value Family(CallContext&, Args a) { return Value::Int(a[0].AsAddress().v4 ? 4 : 6); }
Value IsUnspecified(CallContext&, Args a) { return Value::Bool(a[0].AsAddress().IsUnspecified()); }
Value IsLoopback(CallContext&, Args a) { return Value::Bool(a[0].AsAddress().IsLoopback()); }
Value IsLinkLocalMulticast(CallContext&, Args a) {
  return Value::Bool(a[0].AsAddress().IsLinkLocalMulticast());
}
Value IsLinkLocalUnicast(CallContext&, Args a) {
  return Value::Bool(a[0].AsAddress().IsLinkLocalUnicast());
}
Value IsGlobalUnicast(CallContext&, Args a) {
  return Value::Bool(a[0].AsAddress().IsGlobalUnicast());
}

// --- networks
Value ToNetwork(CallContext& context, Args a) {
  context.budget.SpendText(a[0].Text().size());
  const Result<Network> network = Network::Parse(a[0].Text());
  if (network) return Value::FromNetwork(*network);
  return Value::Error("network address parse error during conversion from string: " +
                      network.error().Message());
}
Value IsNetwork(CallContext& context, Args a) {
  return Value::Bool(!ToNetwork(context, a).IsError());
}
Value NetworkToString(CallContext&, Args a) { return Value::String(a[0].AsNetwork().Text()); }
Value ContainsAddress(CallContext&, Args a) {
  return Value::Bool(a[0].AsNetwork().Contains(a[1].AsAddress()));
}
// A text that is no address is answered like an argument of the wrong type.
Value ContainsAddressText(CallContext& context, Args a) {
  const Value address = ToAddress(context, a.subspan(1));
  if (address.IsError()) return Value::NoSuchOverload();
  return Value::Bool(a[0].AsNetwork().Contains(address.AsAddress()));
}
Value ContainsNetwork(CallContext&, Args a) {
  return Value::Bool(a[0].AsNetwork().Contains(a[1].AsNetwork()));
}
Value ContainsNetworkText(CallContext& context, Args a) {
  const Value network = ToNetwork(context, a.subspan(1));
  if (network.IsError()) return network;
  return Value::Bool(a[0].AsNetwork().Contains(network.AsNetwork()));
}
Value AddressOfNetwork(CallContext&, Args a) {
  return Value::FromAddress(a[0].AsNetwork().address);
}
Value PrefixLength(CallContext&, Args a) { return Value::Int(a[0].AsNetwork().bits); }
Value Masked(CallContext&, Args a) { return Value::FromNetwork(a[0].AsNetwork().Masked()); }

}  // namespace

void AddAddresses(std::vector<Overload>* table) {
  using enum TypeKind;
  const auto add = [&](std::string_view name, bool member, std::vector<Type> params, Type result,
                       Function f) {
    table->push_back(
        {name, member, std::move(params), std::move(result), f, Mismatch::kSignature, false});
  };
  add("ip", false, {kString}, kAddress, ToAddress);
  add("isIP", false, {kString}, kBool, IsAddress);
  add("ip.isCanonical", false, {kString}, kBool, IsCanonical);
  add("string", false, {kAddress}, kString, AddressToString);
  add("family", true, {kAddress}, kInt, Family);
  add("isUnspecified", true, {kAddress}, kBool, IsUnspecified);
  add("isLoopback", true, {kAddress}, kBool, IsLoopback);
  add("isLinkLocalMulticast", true, {kAddress}, kBool, IsLinkLocalMulticast);
  add("isLinkLocalUnicast", true, {kAddress}, kBool, IsLinkLocalUnicast);
  add("isGlobalUnicast", true, {kAddress}, kBool, IsGlobalUnicast);
  add("cidr", false, {kString}, kNetwork, ToNetwork);
  add("isCIDR", false, {kString}, kBool, IsNetwork);
  add("string", false, {kNetwork}, kString, NetworkToString);
  add("containsIP", true, {kNetwork, kString}, kBool, ContainsAddressText);
  add("containsIP", true, {kNetwork, kAddress}, kBool, ContainsAddress);
  add("containsCIDR", true, {kNetwork, kString}, kBool, ContainsNetworkText);
  add("containsCIDR", true, {kNetwork, kNetwork}, kBool, ContainsNetwork);
  add("ip", true, {kNetwork}, kAddress, AddressOfNetwork);
  add("prefixLength", true, {kNetwork}, kInt, PrefixLength);
  add("masked", true, {kNetwork}, kNetwork, Masked);
}

}  // namespace berth::cel
