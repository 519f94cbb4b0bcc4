# Jars of Maven Central, for the scripts that source this, which have say and fail.
# fetch_jars DIR <<JARS  fetches each into DIR that is not there, by curl: lines of its sha256 and its path
CENTRAL=https://repo1.maven.org/maven2
. scripts/apt.sh
fetch_jars() {
    local path sum file
    mkdir -p "$1"
    while read -r sum path; do
        file=$1/${path##*/}
        [[ ! -s $file ]] || continue
        command -v curl >/dev/null || apt_install curl ca-certificates
        say "fetching ${path##*/} into $1"
        curl -fsSL --retry 3 -o "$file.part" "$CENTRAL/$path" || fail "$CENTRAL/$path cannot be had"
        sha256sum --quiet -c - <<<"$sum  $file.part" || fail "$CENTRAL/$path is not what it was"
        mv "$file.part" "$file"
    done
}
