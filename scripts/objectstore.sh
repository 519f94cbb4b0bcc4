#!/usr/bin/env bash
# An object store for tests and figures: versitygw, an S3 gateway over a directory, on loopback, and the jars by which
# Hadoop reaches it.
#   objectstore.sh fetch        build versitygw into the cache (a few minutes the first time), fetch the jars (17 MB)
#   objectstore.sh jars SPARK   print the jars for a Spark's version, one a line, that of spark-hadoop-cloud last
#   objectstore.sh run DIR PORT serve DIR/objects, whose directories are buckets, say "ready", and stop on SIGTERM
# Hadoop's part is that of Spark's own Hadoop. The SDK's modules stand for its bundle of 600 MB. Of spark-hadoop-cloud
# there is none for Spark 4.2 and 4.3: that of 4.1 takes its place.
set -euo pipefail
cd "$(dirname "$0")/.."

CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}
KEPT=$CACHE/objectstore
GATEWAY=$KEPT/versitygw-1.8.0
GO=${GO:-go}

say() { printf 'objectstore: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
. scripts/maven.sh

fetch() {
    mkdir -p "$KEPT"
    exec 8>"$KEPT/lock"
    flock 8 # Of several at a time one fetches.
    fetch_jars "$KEPT/sdk" <<'JARS'
4959a9747cbb479c73c3ffbcd479bee5b014f8b2880994585a8693fb9d24675e software/amazon/s3/analyticsaccelerator/analyticsaccelerator-s3/1.3.1/analyticsaccelerator-s3-1.3.1.jar
6f36bd87155d1dd85d6efbdd29e532e3759a022211feb71affebee1aa34f04b8 software/amazon/awssdk/annotations/2.35.4/annotations-2.35.4.jar
6eade21b482724ed0a4613eaa95d20e47e7a81304bd28538ac427fece94a7740 software/amazon/awssdk/apache-client/2.35.4/apache-client-2.35.4.jar
c63cc29f76a8527e9e10b621703163df541dc5cb315508dc2898518602c75380 software/amazon/awssdk/arns/2.35.4/arns-2.35.4.jar
6b601323004833fb4a857ffc95db4795e0e6320eb93e64b1246c655c9ff04994 software/amazon/awssdk/auth/2.35.4/auth-2.35.4.jar
fdb5fc8f1a48d97fa7d04d3460fb42f6973c7b1bbe1b9d317871ef0162bcb623 software/amazon/awssdk/aws-core/2.35.4/aws-core-2.35.4.jar
9b4cf9b78977cc9f5b4ceae9c435dedbde6a055a0f8d9e053eaca945715e2a9f software/amazon/awssdk/aws-query-protocol/2.35.4/aws-query-protocol-2.35.4.jar
4f59176da2522c357b1993e4a890fde529f12f365795ef86269bde4a3984cd0d software/amazon/awssdk/aws-xml-protocol/2.35.4/aws-xml-protocol-2.35.4.jar
94464af4374d08ecf33ca06ed4d03e1615529e547726e26b56abacefbeee7948 software/amazon/awssdk/checksums/2.35.4/checksums-2.35.4.jar
88b5af85ac2d3c862be8856be4e683ab31932e4a5a3c1c45af864d2671ac7cec software/amazon/awssdk/checksums-spi/2.35.4/checksums-spi-2.35.4.jar
2c6aaa17bf9ccbb9d962dded4351e73decb197e3c5519970e0dae17e05d3df62 software/amazon/awssdk/crt-core/2.35.4/crt-core-2.35.4.jar
ef02441bda916959b8341290b49c68cc35538e1ad6f8629b75d8334dc6653e00 software/amazon/awssdk/endpoints-spi/2.35.4/endpoints-spi-2.35.4.jar
0c37d8e696117f02c302191b8110b0d0eb20fa412fce34c3a269ec73c16ce822 software/amazon/eventstream/eventstream/1.0.1/eventstream-1.0.1.jar
3ec933a06e751a05e195eb3589209e23c44e1897263b6fcae34ef4cc63cd4491 software/amazon/awssdk/http-auth/2.35.4/http-auth-2.35.4.jar
c4acb92fdec90bfd9b67bfab8e41b69cd152c03cacc10281a8ab464791856e01 software/amazon/awssdk/http-auth-aws/2.35.4/http-auth-aws-2.35.4.jar
709107552f302be3fa9e05969a3779f5c0f07fb809e6fa1fa571a6f0c61326dd software/amazon/awssdk/http-auth-aws-eventstream/2.35.4/http-auth-aws-eventstream-2.35.4.jar
4495463406bb98eb136f2c3f3604ed5f08ec9974ebc3f34f2121b20679f61d5c software/amazon/awssdk/http-auth-spi/2.35.4/http-auth-spi-2.35.4.jar
728be89b2a07b595edb0adee3a2cbbbdd4cb1f4caddde0d08c3979fe2620dedb software/amazon/awssdk/http-client-spi/2.35.4/http-client-spi-2.35.4.jar
6fe9026a566c6a5001608cf3fc32196641f6c1e5e1986d1037ccdbd5f31ef743 org/apache/httpcomponents/httpclient/4.5.13/httpclient-4.5.13.jar
6c9b3dd142a09dc468e23ad39aad6f75a0f2b85125104469f026e52a474e464f org/apache/httpcomponents/httpcore/4.4.16/httpcore-4.4.16.jar
188d73db7d4e2361654bc3c5a1b3eaeb445d0500fb012cc46c5d67975adf97bf software/amazon/awssdk/identity-spi/2.35.4/identity-spi-2.35.4.jar
80d67a6bb3e7eb49c7d4b6e4ba4c1463ed7da0192b795158328602dc131c5ecc software/amazon/awssdk/json-utils/2.35.4/json-utils-2.35.4.jar
d913f6f7dc913e8bd8585dfd8da7931627dc5eec24db2bbef012d41cd6848025 software/amazon/awssdk/kms/2.35.5/kms-2.35.5.jar
c2a4ee90a21081317e2e6eba0c414d05d3d518aed2f86b1c1710a7367b450487 software/amazon/awssdk/metrics-spi/2.35.4/metrics-spi-2.35.4.jar
b82f8b33e5c85273a47da45ede884d7ccb31c9c2f69e6910a76c5c48fa1275dc software/amazon/awssdk/netty-nio-client/2.35.4/netty-nio-client-2.35.4.jar
0f4ef7ca72ccd80dd49ebeaf7f3ce60a7d7a00da59a91aeeae6e91052bbacbd8 software/amazon/awssdk/profiles/2.35.4/profiles-2.35.4.jar
f2532eca6ba2142fe4821d5decb03c83a3e15dc8bfae2240e7f2efa75f9868b5 software/amazon/awssdk/protocol-core/2.35.4/protocol-core-2.35.4.jar
f75ca597789b3dac58f61857b9ac2e1034a68fa672db35055a8fb4509e325f28 org/reactivestreams/reactive-streams/1.0.4/reactive-streams-1.0.4.jar
77eae87b34ce96ecdf916a9bc06684dbeafcb6d38ef0513285fa5d5d6d41f5ca software/amazon/awssdk/regions/2.35.4/regions-2.35.4.jar
f99fb2f8c66d7e859955b3542d3af8f9de8f23a21d5e3250f0f2c5f18487e469 software/amazon/awssdk/retries/2.35.4/retries-2.35.4.jar
668638751d059c527ddd41ffa4dcebe36a7c14860ed56776df09b861c14dc7dd software/amazon/awssdk/retries-spi/2.35.4/retries-spi-2.35.4.jar
f23532c5223be9b0bfec0d72837ed09ed34dbdf8022818ba145b20076a78b4bc software/amazon/awssdk/s3/2.35.4/s3-2.35.4.jar
0eec78870b3d0abc509a847072cf963cb2ae6e360dc6161a9449b3398c470476 software/amazon/awssdk/s3-transfer-manager/2.35.4/s3-transfer-manager-2.35.4.jar
fa559a4ce598852f3519c8f3b36250f583b0858a7611eedc4a81997778c617f4 software/amazon/awssdk/sdk-core/2.35.4/sdk-core-2.35.4.jar
8d0f7816d3f96e3f00249f5d054d926e939a104bcf9ef57676ee0b16c59684d2 software/amazon/awssdk/sts/2.35.4/sts-2.35.4.jar
32f4252c6c2df8f3a4aff885e6dc77024ad6b4cb48455d07b461ec30c41643ea software/amazon/awssdk/third-party-jackson-core/2.35.4/third-party-jackson-core-2.35.4.jar
642aeef536a071668f0b772f05f9d21573abf6955e7b6fb5fdb893760cca10e8 software/amazon/awssdk/utils/2.35.4/utils-2.35.4.jar
e004806def5e22ec98edc48a133ff3317166255e1ba29d93d129e9fdfa64a7be software/amazon/awssdk/utils-lite/2.35.4/utils-lite-2.35.4.jar
JARS
    fetch_jars "$KEPT/4.0" <<'JARS'
01334a07e179cae2b7e251f24857f11e3759108c9d6a79dcbe362a4295227da2 org/apache/hadoop/hadoop-aws/3.4.1/hadoop-aws-3.4.1.jar
c5d41a2fabf5d74b0b1082f7e7c22f1dd0e180126db507c2be5916224b4fe247 org/apache/spark/spark-hadoop-cloud_2.13/4.0.2/spark-hadoop-cloud_2.13-4.0.2.jar
JARS
    fetch_jars "$KEPT/4.3" <<'JARS'
66bd9eefb938b1a1657487324b63c13df2d8b17164a1dd24e0ef37b905bc5baa org/apache/hadoop/hadoop-aws/3.5.0/hadoop-aws-3.5.0.jar
672d7d872f434cb7fe1c90f7edcd19b1e8c67a335a578288426fbd4db5096915 org/apache/spark/spark-hadoop-cloud_2.13/4.1.2/spark-hadoop-cloud_2.13-4.1.2.jar
JARS
    if [[ ! -x $GATEWAY ]]; then
        say "building versitygw with Go"
        (cd / && GOFLAGS='' GOBIN="$KEPT" "$GO" install "github.com/versity/versitygw/cmd/versitygw@v${GATEWAY##*-}") >&2
        mv "$KEPT/versitygw" "$GATEWAY"
    fi
    exec 8>&-
}

# serve has the gateway keep what an object has besides its bytes beside it: a file system need have no attributes.
serve() { # dir port
    fetch
    trap 'kill "$gateway" 2>/dev/null; wait "$gateway" || true' EXIT
    trap exit INT TERM HUP
    mkdir -p "$1/objects" "$1/beside"
    ROOT_ACCESS_KEY=pacer ROOT_SECRET_KEY=pacer-on-loopback "$GATEWAY" --port "127.0.0.1:$2" --keep-alive --quiet \
        posix --sidecar "$1/beside" "$1/objects" >"$1/gateway.log" 2>&1 &
    gateway=$!
    for _ in $(seq 300); do
        kill -0 "$gateway" 2>/dev/null || fail "versitygw has ended: $(tail -n 3 "$1/gateway.log")"
        if (exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null; then
            echo "objectstore: ready"
            wait "$gateway"
            return
        fi
        sleep 0.1
    done
    fail "versitygw does not answer on port $2"
}

case ${1:-}/$# in
fetch/1) fetch ;;
jars/2)
    fetch
    of=4.3
    [[ $2 != 4.[01].* ]] || of=4.0
    ls "$KEPT"/sdk/*.jar "$KEPT/$of"/hadoop-aws-*.jar
    ls "$KEPT/$of"/spark-hadoop-cloud_*.jar
    ;;
run/3) serve "$2" "$3" ;;
*)
    echo "usage: objectstore.sh fetch | jars SPARK | run DIR PORT" >&2
    exit 64
    ;;
esac
