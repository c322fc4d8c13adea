# In an empty folder: unpacks these packages, with everything they need that this system lacks, into `unpacked` in it.
mkdir -p state/lists/partial cache/archives/partial
# The system's hooks would tidy the system's caches; only a file can clear a list. As root, a user that may not reach our
# folder would do the download. An update without a network would count as done.
cat >apt.conf <<END
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Dir::State "$PWD/state";
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache "$PWD/cache";
Debug::NoLocking "true";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::Retries "2";
END
apt() { apt-get -q -c apt.conf -o "Dir::State::lists=$lists" "$@"; }
fetch() {
  plan=$(apt --simulate --no-install-recommends install "$@") &&
    apt download $(echo "$plan" | sed -n 's/^Inst \([^ ]*\).*/\1/p')
}
# The machine's lists save minutes on a slow line. They may be missing, or name files that the mirrors have dropped.
lists=/var/lib/apt/lists
fetch "$@" || { lists=$PWD/state/lists && apt update && fetch "$@"; }
for file in *.deb; do dpkg-deb -x "$file" unpacked; done
