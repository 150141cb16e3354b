#!/bin/sh
# Starts, stops or shows the beater of a pid file. Its subject is the orchestrator of
# memory/agent-registry.json, below HEARTBEAT_ROOT or the working folder.
# Usage: heartbeat-service.sh PIDFILE start|stop|status. Exit status is 0 for yes, 1 for no.
set -u

tend=${0%/*}/../../../bin/tend
[ -x "$tend" ] || tend=tend
root=${HEARTBEAT_ROOT:-.}
file=${1:-memory/.heartbeat-service.pid}
case $file in
  /*) ;;
  *) file=$root/$file ;;
esac

case ${2:-start} in
  start) "$tend" service start --pidfile "$file" --preset hyrm --root "$root" || exit 1 ;;
  stop) "$tend" service stop --pidfile "$file" || exit 1 ;;
  status) "$tend" service status --quiet --pidfile "$file" || exit 1 ;;
  *)
    echo "Usage: $0 <pid_file> {start|stop|status}" >&2
    exit 1
    ;;
esac
