#!/usr/bin/env bats
# share/deb up to where Debian's own tools begin, which stand-ins take the place of: make deb and make
# check-reproducible run the real ones.

bats_require_minimum_version 1.5.0

setup() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  cd "$BATS_TEST_TMPDIR"
  command -v xz >/dev/null || skip 'no xz'
  mkdir bin
  printf '#!/bin/sh\ncp -R debian "%s/packed"\n: >../ran.changes\n' "$PWD" >bin/dpkg-buildpackage
  printf '#!/bin/sh\nexit 0\n' >bin/lintian
  chmod +x bin/*
  PATH=$PWD/bin:$PATH
  unset DEBFULLNAME DEBEMAIL
}

@test "deb: nobody is the maintainer, unless somebody is [all]" {
  run -0 "$root/share/deb" out
  grep -qx 'Maintainer: The ran authors <ran@packages.invalid>' packed/control
  diff -r "$root/share/debian" packed
  cp out/ran_*.orig.tar.xz nobody.tar.xz
  rm -r packed
  DEBFULLNAME='Ann & Bo \1 "X"' DEBEMAIL=ann@example.org run -0 "$root/share/deb" out
  grep -qxF 'Maintainer: Ann & Bo \1 "X" <ann@example.org>' packed/control
  [ "$(grep -cF ' -- Ann & Bo \1 "X" <ann@example.org>  ' packed/changelog)" -eq 1 ]
  # Nothing else, and the source is the same.
  [ "$(diff "$root/share/debian/control" packed/control | grep -c '^>')" -eq 1 ]
  [ "$(diff "$root/share/debian/changelog" packed/changelog | grep -c '^>')" -eq 1 ]
  [ -x packed/rules ]
  cmp nobody.tar.xz out/ran_*.orig.tar.xz
  DEBEMAIL=ann@example.org run -1 "$root/share/deb" out
  [[ $output == *'DEBFULLNAME and DEBEMAIL go together'* ]]
}
