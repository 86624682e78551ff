// The path of the secure port by which a leader shares its work (kube/hands/work_sharing.h).
//
//   POST /apis/hands/v1/batches   a hands::Batch; answered with a hands::Answer
//   POST /apis/hands/v1/polls     a hands::Poll; answered with a hands::Answer, within a second
//
// Bodies are protobuf (src/hands/wire.h). Callers are authenticated and authorized like those of
// every other path; a message of one who does not hold the Lease is refused with 409.
#pragma once

#include "kube/hands/work_sharing.h"
#include "net/loop.h"
#include "server/http/mount.h"

namespace berth::server {

// `work` is called on the thread of `loop`. Both outlive the server.
Mount HandsMount(net::Loop& loop, kube::WorkSharing& work);

}  // namespace berth::server
