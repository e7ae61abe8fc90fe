#!/bin/sh
# One run on a machine that keeps nothing: restores the backup in WYNNSYNC_BACKUP (s3://bucket/prefix or a folder), syncs, and backs up again.
# A crontab line, with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, as docs/how-to/scheduled.md says:
# 17 * * * *   WYNNSYNC_BACKUP=s3://bucket/wynnsync flock -n /tmp/wynnsync.lock sh scheduled-sync.sh
set -u
WYNNSYNC_DATA_DIR=$(mktemp -d) || exit
export WYNNSYNC_DATA_DIR
trap 'rm -rf "$WYNNSYNC_DATA_DIR"' EXIT
trap 'exit 75' INT TERM

wynnsync restore "$WYNNSYNC_BACKUP" --if-any --quiet || exit
# A sync that fails in part has observed something all the same.
code=0
wynnsync sync --quiet || code=$?
wynnsync backup "$WYNNSYNC_BACKUP" --quiet || exit
exit "$code"
