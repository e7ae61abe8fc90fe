import type { CommandDeclaration } from '../../command.ts'
import { consentFlags, option } from '../../options.ts'

export const backup: CommandDeclaration = {
  usage: 'backup <place>',
  summary: 'copy everything into a folder or s3://bucket/prefix, only what changed since the last backup',
  options: consentFlags('what would be written'),
  notes: `A file for each table, or for each month of a large one; backup.json lists them with their hashes, and is put in place last.
Interrupted at any instant, the backup before is whole. What was removed from the database is removed here by the next backup. The files
have all that the database has, names of people too: only their owner can read them. A bucket needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,
and AWS_REGION or AWS_ENDPOINT_URL_S3 where they are not the defaults. It asks only before it replaces the backup of another database.`,
  examples: ['wynnsync backup ./backup --dry-run', 'wynnsync backup ./backup --quiet'],
  load: async () => (await import('./backup-command.ts')).backupCommand,
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
  load: async () => (await import('./restore-command.ts')).restoreCommand,
}
