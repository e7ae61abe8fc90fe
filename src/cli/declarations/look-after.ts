import type { CommandDeclaration, CommandGroup } from '../command.ts'
import { concurrency, consentFlags, option, wide } from '../options.ts'

export const status: CommandDeclaration = {
  usage: 'status',
  summary: 'freshness of each resource, budgets, gaps, failures, sizes',
  options: [
    option('--watch', 'refresh every five seconds'),
    option('--drift', 'only drift: what the API sends and this program does not know, each thing once'),
    wide,
  ],
  examples: ['wynnsync status', 'wynnsync status --watch', 'wynnsync status --json | jq .gaps'],
  load: async () => (await import('../commands/status/status-command.ts')).statusCommand,
}

export const doctor: CommandDeclaration = {
  usage: 'doctor',
  summary: 'check database, disk, proxy, API, clock, headers and credential',
  options: [concurrency, wide],
  examples: ['wynnsync doctor', 'wynnsync doctor --json'],
  load: async () => (await import('../commands/doctor/doctor-command.ts')).doctorCommand,
}

export const runs: CommandGroup = {
  usage: 'runs',
  summary: 'the ledger: what was run when, and what came of it',
  examples: ['wynnsync runs --failed --since -7d', 'wynnsync runs show 3f2a91c0'],
  commands: [
    {
      usage: 'list [resource...]',
      isDefault: true,
      summary: 'runs of the named resources, or of all, the newest first; also `wynnsync runs`',
      options: [
        option('--failed', 'only runs that failed or were rejected'),
        option('--since <instant>', 'only runs that began since then: 2026-05-01T08:00Z, yesterday, -12h, -7d'),
        option('--limit <runs>', 'at most that many, 0 for all (default: 30)'),
        wide,
      ],
      examples: ['wynnsync runs list', 'wynnsync runs list --failed --since -7d', 'wynnsync runs --limit 5 --json'],
      load: async () => (await import('../commands/runs/runs-command.ts')).runsList,
    },
    {
      usage: 'show <id>',
      summary: 'everything about one run: requests, responses by key, guards, quarantine, drift',
      notes: `An id is the run_id of the ledger, or its beginning as \`runs list\` shows it. Requests are there for as long as responses
are archived (WYNNSYNC_RAW_DAYS).`,
      options: [wide],
      examples: ['wynnsync runs show 3f2a91c0', 'wynnsync runs show 3f2a91c0 --json | jq .guards'],
      load: async () => (await import('../commands/runs/runs-command.ts')).runsShow,
    },
  ],
}

export const quarantine: CommandGroup = {
  usage: 'quarantine',
  summary: 'records that could not be read: what was wrong where, and another try',
  examples: ['wynnsync quarantine', 'wynnsync quarantine show 12', 'wynnsync quarantine retry'],
  commands: [
    {
      usage: 'list [resource...]',
      isDefault: true,
      summary: 'records in quarantine, the newest first; also `wynnsync quarantine`',
      options: [option('--all', 'also those of which the latest response could be read'), wide],
      examples: ['wynnsync quarantine list', 'wynnsync quarantine --all --json | jq .quarantine[].path'],
      load: async () => (await import('../commands/quarantine/quarantine-command.ts')).quarantineList,
    },
    {
      usage: 'show <id>',
      summary: 'one record as the API sent it, with the path of what is wrong',
      options: [wide],
      examples: ['wynnsync quarantine show 12', 'wynnsync quarantine show 12 --json | jq .raw'],
      load: async () => (await import('../commands/quarantine/quarantine-command.ts')).quarantineShow,
    },
    {
      usage: 'retry [id...]',
      summary: 'request again what the records are about, and load what can be read now',
      options: [concurrency],
      notes: `Without ids: all records whose latest response could not be read. Nothing is removed: a record stays as the API sent it, and
is over once a later response about the same could be read. After an update of this program, \`wynnsync replay\` reads past responses
again.`,
      examples: ['wynnsync quarantine retry', 'wynnsync quarantine retry 12 13'],
      load: async () => (await import('../commands/quarantine/quarantine-command.ts')).quarantineRetry,
    },
  ],
}

export const replay: CommandDeclaration = {
  usage: 'replay [resource...]',
  summary: 'rebuild tables from the archive, and show what differs',
  options: [
    option('--yes', 'replace the tables by the rebuilt ones'),
    option('--dry-run', 'only show what differs, as without --yes'),
    option('--keep', 'keep the schemas game_replay and sync_replay, for inspection'),
  ],
  notes: `For when a newer version of this program understands more of what the API sent. Nothing is changed without --yes. No request
is sent; on a server syncs may run meanwhile. A resource that holds more than its archive is left alone.`,
  examples: ['wynnsync replay items', 'wynnsync replay items recipes --yes', 'wynnsync replay --json | jq .tables'],
  load: async () => (await import('../commands/replay/replay-command.ts')).replayCommand,
}

export const retract: CommandDeclaration = {
  usage: 'retract <source>',
  summary: 'take back an import, or the responses of a period of one resource',
  options: [
    option('--from <instant>', 'of a resource: the first instant that is taken back'),
    option('--to <instant>', 'of a resource: until before this instant'),
    ...consentFlags('what would be taken back'),
  ],
  notes: `The source is a lake, a folder of recordings or a git repository that was imported, by its place or its id, or the name of a
resource, with --from and --to. Its history is rebuilt from the responses that are left, as if the others had never come; that time is a gap
then. Recordings and lakes can be imported again. Responses of this database itself stay in ledger and archive, as rejected.`,
  examples: [
    'wynnsync retract recordings --dry-run',
    'wynnsync retract territories --from 2026-05-01T10:00Z --to 2026-05-01T12:00Z --dry-run',
  ],
  load: async () => (await import('../commands/retract/retract-command.ts')).retractCommand,
}

export const verify: CommandDeclaration = {
  usage: 'verify',
  summary: 'prove that the database is whole: chains, events, ledger, archive, numbers',
  options: [
    option('--repair', 'put right what follows from what the database has'),
    option('--lake <place>', 'also read every file of this lake (default: that of WYNNSYNC_LAKE)'),
    option('--backup <place>', 'also read every file of this backup'),
    ...consentFlags('what would be repaired'),
    wide,
  ],
  notes:
    'It ends with 3 where rows are wrong, and prints which. It reads every table once, so it takes about a minute per GB. Files of a lake and of a backup are held against their hashes; nothing of them is changed.',
  examples: ['wynnsync verify', 'wynnsync verify --repair --dry-run', 'wynnsync verify --json | jq .wrong'],
  load: async () => (await import('../commands/verify/verify-command.ts')).verifyCommand,
}

export const backup: CommandDeclaration = {
  usage: 'backup <place>',
  summary: 'copy everything into a folder or s3://bucket/prefix, only what changed since the last backup',
  options: consentFlags('what would be written'),
  notes: `A file for each table, or for each month of a large one; backup.json lists them with their hashes, and is put in place last.
Interrupted at any instant, the backup before is whole. What was removed from the database is removed here by the next backup. The files
have all that the database has, names of people too: only their owner can read them. A bucket needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,
and AWS_REGION or AWS_ENDPOINT_URL_S3 where they are not the defaults. It asks only before it replaces the backup of another database.`,
  examples: ['wynnsync backup ./backup --dry-run', 'wynnsync backup ./backup --quiet'],
  load: async () => (await import('../commands/backup/backup-command.ts')).backupCommand,
}

export const restore: CommandDeclaration = {
  usage: 'restore <place>',
  summary: 'load a backup into an empty database, and verify it',
  options: [
    option('--if-any', 'where nothing was backed up yet, load nothing and end with 0: for the first of many runs'),
  ],
  notes: `Every file is held against its hash before anything is loaded. The database must be empty: name a new folder with --data-dir, or a
new database with --database-url. Interrupted at any instant, the same call goes on; until it is done, no other command opens the database.
It ends with 3 where verify finds what is wrong. The next backup of the restored database may go to the same place.`,
  examples: ['wynnsync backup ./backup && wynnsync restore ./backup --data-dir ./restored'],
  load: async () => (await import('../commands/backup/backup-command.ts')).restoreCommand,
}

export const migrate: CommandDeclaration = {
  usage: 'migrate',
  summary: 'bring the database up to date and exit',
  examples: ['DATABASE_URL=postgres://me@localhost/wynn wynnsync migrate'],
  load: async () => (await import('../commands/migrate/migrate-command.ts')).migrateCommand,
}

export const move: CommandDeclaration = {
  usage: 'move',
  summary: 'copy everything into another, empty database: from the embedded one to a server, or back',
  options: [
    option('--to <place>', 'postgres://user:password@host:5432/database, or a folder for an embedded database'),
    option('--merge', 'into a database that has history: of times that it did not observe itself'),
    ...consentFlags('what there is to move, and whether the other database can take it'),
  ],
  notes: `Into an empty database it asks nothing: that destroys nothing. With --merge it asks, and only history is taken, by the rules of backfill --from-lake; the target may go on syncing meanwhile. It needs
the package @duckdb/node-api. The source is the configured database. It stays as it is: nothing is written into it but migrations and locks. Stop what
syncs into it first. Interrupted at any instant, the same call goes on; until it is done, no other command opens the target.
A password in PGPASSWORD instead of the URL is not in the list of processes.`,
  examples: [
    'wynnsync move --to postgres://me@localhost/wynn --dry-run',
    'wynnsync move --to postgres://me@localhost/wynn',
    'DATABASE_URL=postgres://me@localhost/wynn wynnsync move --to ./data',
  ],
  load: async () => (await import('../commands/move/move-command.ts')).moveCommand,
}

export const privacy: CommandGroup = {
  usage: 'privacy',
  summary: 'the data that is kept of a player',
  examples: ['wynnsync privacy show PlayerName', 'wynnsync privacy purge PlayerName --dry-run'],
  commands: [
    {
      usage: 'show <player>',
      summary: 'what is kept of a player, what is restricted, and what was removed',
      examples: ['wynnsync privacy show PlayerName', 'wynnsync privacy show <uuid> --json'],
      load: async () => (await import('../commands/privacy/privacy-command.ts')).privacyShow,
    },
    {
      usage: 'purge <player>',
      summary: 'remove everything that is kept of a player',
      options: [
        option('--group <rule>', 'only what falls under this privacy rule, such as mainAccess'),
        ...consentFlags('what would be removed'),
      ],
      notes: `What was observed until now does not come back. What the API still shows is recorded again: only the player can restrict
that, in the game.`,
      examples: [
        'wynnsync privacy purge PlayerName --dry-run',
        'wynnsync privacy purge <uuid> --group onlineStatus --yes',
      ],
      load: async () => (await import('../commands/privacy/privacy-command.ts')).privacyPurge,
    },
  ],
}
