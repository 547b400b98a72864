# Sourced by up: the files of a cluster of two nodes on one machine, and its accounting.
# Needs $directory, $cluster, $min_job_age and $accounting.

# take_ports N: fills `ports` with N free ones, below those that llmb-step-runner derives from job
# ids. They are not reserved: up fails where another program is quicker.
take_ports() {
  local low=10000 high=15000 port
  ports=()
  while [ ${#ports[@]} -lt "$1" ]; do
    port=$((low + (RANDOM * 32768 + RANDOM) % (high - low)))
    [[ " ${ports[*]} " != *" $port "* ]] || continue
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || ports+=("$port")
  done
}

# Nodes that an earlier cluster in this directory left drained or down come back.
both_nodes_are_idle() {
  if slurm sinfo --noheader --partition=batch --format=%t | grep -qE 'drain|down|inval'; then
    slurm scontrol update nodename=node1,node2 state=resume || true
  fi
  [ "$(slurm sinfo --Node --partition=batch --noheader --format='%N %t' | grep -c ' idle$')" -eq 2 ]
}

# Slurm binds to one address instead of all only by this machine's own name.
choose_addresses() {
  bind_parameters="CommunicationParameters=NoCtldInAddrAny,NoInAddrAny"
  if ! getent ahostsv4 "$(hostname)" | grep -q '^127\.'; then
    bind_parameters=""
    echo "Note: $(hostname) is no loopback name, so Slurm listens on all addresses of this machine."
    echo "Whoever connects still needs this cluster's munge key."
  fi
}

write_slurm_configuration() {
  local cpus=32
  cat >"$directory/slurm.conf" <<TEXT
ClusterName=$cluster
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
# A short life of credentials lets a requeued job start again soon; a shorter one would end before
# a machine that stands still for half a minute has started a job with it.
AuthInfo=socket=$directory/munge/socket,cred_expire=45
$bind_parameters
StateSaveLocation=$directory/state
SlurmdSpoolDir=$directory/spool/%n
SlurmctldPidFile=$directory/run/slurmctld.pid
SlurmdPidFile=$directory/run/slurmd-%n.pid
SlurmctldLogFile=$directory/log/slurmctld.log
SlurmdLogFile=$directory/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,bf_interval=2,batch_sched_delay=0,sched_min_interval=100000
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=60
MessageTimeout=20
MinJobAge=$min_job_age
KillWait=2
CompleteWait=0
JobRequeue=1
GresTypes=gpu
JobAcctGatherType=jobacct_gather/none
$(if [ "$accounting" -eq 1 ]; then
    echo "AccountingStorageType=accounting_storage/slurmdbd"
    echo "AccountingStorageHost=127.0.0.1"
    echo "AccountingStoragePass=$directory/munge/socket"
    echo "AccountingStoragePort=${ports[3]}"
    echo "AccountingStoreFlags=job_comment"
  else
    echo "AccountingStorageType=accounting_storage/none"
  fi)
NodeName=node1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=$cpus RealMemory=1000 Gres=gpu:8
NodeName=node2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=${ports[2]} CPUs=$cpus RealMemory=1000 Gres=gpu:8
PartitionName=batch Nodes=node1,node2 Default=YES MaxTime=INFINITE State=UP
PartitionName=small Nodes=node1 MaxTime=10 State=UP
TEXT
  # Eight GPUs a node by name only: slurmd wants a file for each, and never opens it.
  mkdir -p "$directory/gpu"
  touch "$directory"/gpu/gpu{0,1,2,3,4,5,6,7}
  echo "Name=gpu File=$directory/gpu/gpu[0-7]" >"$directory/gres.conf"
  # Keeps slurmd away from the machine's control groups.
  echo "CgroupPlugin=cgroup/v1" >"$directory/cgroup.conf"
  cat >"$directory/env" <<TEXT
export SLURM_CONF="$directory/slurm.conf"
TEXT
}

start_accounting() {
  local password
  password="$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')"
  if [ ! -d "$directory/mariadb/mysql" ]; then
    mkdir -p "$directory/mariadb"
    mariadb-install-db --no-defaults --user=root --datadir="$directory/mariadb" \
      --auth-root-authentication-method=socket --skip-test-db \
      >"$directory/log/mariadb-install.out" 2>&1
  fi
  start mariadbd mariadbd --no-defaults --user=root --datadir="$directory/mariadb" \
    --socket="$directory/mariadb/socket" --pid-file="$directory/run/mariadbd.pid" \
    --bind-address=127.0.0.1 --port="${ports[4]}" --skip-name-resolve \
    --innodb-buffer-pool-size=64M --innodb-log-file-size=16M --innodb-flush-log-at-trx-commit=0
  wait_until 240 "MariaDB answers" mariadb-admin --no-defaults --socket="$directory/mariadb/socket" ping
  mariadb --no-defaults --socket="$directory/mariadb/socket" <<TEXT
CREATE DATABASE IF NOT EXISTS slurm_accounting;
CREATE OR REPLACE USER 'slurm'@'127.0.0.1' IDENTIFIED BY '$password';
GRANT ALL ON slurm_accounting.* TO 'slurm'@'127.0.0.1';
TEXT
  (umask 077 && cat >"$directory/slurmdbd.conf" <<TEXT
AuthType=auth/munge
AuthInfo=socket=$directory/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
$bind_parameters
DbdPort=${ports[3]}
SlurmUser=root
LogFile=$directory/log/slurmdbd.log
PidFile=$directory/run/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=${ports[4]}
StorageUser=slurm
StoragePass=$password
StorageLoc=slurm_accounting
TEXT
  )
  start slurmdbd slurmdbd -D
  wait_until 240 "slurmdbd answers" slurm sacctmgr --noheader list cluster
  slurm sacctmgr --immediate --quiet add cluster "$cluster" >/dev/null 2>&1 || true
  slurm sacctmgr --immediate --quiet add account team >/dev/null 2>&1 || true
  slurm sacctmgr --immediate --quiet add user root account=team >/dev/null 2>&1 || true
}
