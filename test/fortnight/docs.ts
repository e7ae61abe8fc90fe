import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/*
 * Every line of the ```sh blocks that a user is told to type, and where the play types it. A line that no rule takes, and a rule that
 * takes no line, are failures: test/docs/fortnight.test.ts holds that without playing.
 */

/** One line of a page. */
export interface Line {
  /** From the root of the repository. */
  readonly page: string
  /** Without the comment at its end. */
  readonly text: string
}

/**
 * Where a line is typed. `main`: beside the `start` that records all the time. `copy`: in a database restored from a backup, which may be
 * destroyed. `fresh`: in an empty folder with an empty database.
 */
export type Surroundings = 'main' | 'copy' | 'fresh'

/** How the lines of a page that fit are played. */
export interface Rule {
  readonly page: string
  readonly line: RegExp
  readonly in?: Surroundings
  /** Why they are not played. */
  readonly leftOut?: string
  /** What is typed instead, because there is no terminal, or an hour is too short. */
  readonly as?: (line: string) => string
  /** Exit codes that are right (default: 0). */
  readonly codes?: readonly number[]
  /** It runs until it is stopped, once it has said this on stdout or stderr. */
  readonly ready?: RegExp
  /** The line is typed while the last server before it on its page runs. */
  readonly beside?: true
  /** Only on one of the two databases. */
  readonly only?: 'embedded' | 'server'
}

const started = /\bstarted\b/
const served = /stop: Ctrl-C/
/** Done, or done and something was rejected. */
const synced = [0, 3]
const library = 'installs a library that `npm ci` has installed'
const yes = (line: string) => `${line} --yes`

const README = 'README.md'
const FIRST_DAY = 'docs/tutorials/first-day.md'
const howTo = (name: string) => `docs/how-to/${name}.md`

export const rules: readonly Rule[] = [
  { page: README, line: /^npm ci && npm run demo$/, in: 'fresh', as: () => 'wynnsync demo', only: 'embedded' },
  { page: README, line: /^npm cit$/, leftOut: 'the tests themselves' },
  { page: README, line: /^npm ci && npm run build/, leftOut: 'the play builds the program' },
  { page: README, line: /^wynnsync sync$/, in: 'fresh', codes: synced },
  { page: README, line: /^wynnsync status$/, in: 'fresh' },

  { page: FIRST_DAY, line: /^npm ci && npm run demo$/, leftOut: 'played by README.md' },
  { page: FIRST_DAY, line: /^npm run build && npm link$/, leftOut: 'the play builds the program' },
  { page: FIRST_DAY, line: /^mkdir wynn && cd wynn$/, in: 'fresh', as: () => 'mkdir -p wynn && cd wynn' },
  // Without a terminal nobody answers its questions. It ends with the exit code of doctor: nothing is recorded yet.
  { page: FIRST_DAY, line: /^wynnsync init$/, in: 'fresh', as: yes },
  { page: FIRST_DAY, line: /^wynnsync config show$/, in: 'fresh' },
  { page: FIRST_DAY, line: /^source <\(wynnsync completion bash\)$/, in: 'fresh' },
  { page: FIRST_DAY, line: /^wynnsync sync$/, in: 'fresh', codes: synced },
  { page: FIRST_DAY, line: /^wynnsync (status|runs)$/, in: 'fresh' },
  { page: FIRST_DAY, line: /^wynnsync start$/, in: 'fresh', ready: started },
  { page: FIRST_DAY, line: /^wynnsync (query .*|report)$/, in: 'main' },

  { page: howTo('backfill'), line: /^npm install /, leftOut: library },
  { page: howTo('backfill'), line: /^git clone /, in: 'copy', as: (line) => `rm -rf wynn-data && ${line}` },
  { page: howTo('backfill'), line: /^wynnsync backfill guilds --dry-run$/, in: 'copy' },
  // Of the guest's fifty guilds a minute, some.
  { page: howTo('backfill'), line: /^wynnsync backfill guilds$/, in: 'copy', as: (line) => `${line} --limit 8` },
  { page: howTo('backfill'), line: /^wynnsync backfill --from recordings$/, in: 'copy', codes: synced },
  { page: howTo('backfill'), line: /^wynnsync backfill --from-git /, in: 'copy', codes: synced },
  { page: howTo('backfill'), line: /^wynnsync backfill --from-lake /, in: 'copy' },

  { page: howTo('backup'), line: /^wynnsync (backup|restore|verify|status)/, in: 'main' },

  { page: howTo('docker'), line: /^docker /, leftOut: 'test/deploy builds the image where there is Docker' },
  { page: howTo('drizzle'), line: /^npm install /, leftOut: library },

  { page: howTo('lake'), line: /^npm install /, leftOut: library },
  { page: howTo('lake'), line: /^wynnsync lake export /, in: 'main' },

  { page: howTo('monitoring'), line: /^wynnsync (status|runs|quarantine|doctor)/, in: 'main' },
  { page: howTo('monitoring'), line: /^wynnsync start --metrics-port/, in: 'copy', ready: started },

  { page: howTo('move'), line: /^createdb /, in: 'copy' },
  { page: howTo('move'), line: /wynnsync move --to /, in: 'copy' },

  { page: howTo('oauth'), line: /^wynnsync auth /, in: 'fresh' },

  { page: howTo('privacy'), line: /^wynnsync privacy (show .*|.* --dry-run)$/, in: 'copy' },
  { page: howTo('privacy'), line: /^wynnsync privacy purge \w+$/, in: 'copy', as: yes },

  { page: howTo('psql'), line: /^psql postgres:\/\/grafana@host\//, in: 'main', only: 'server' },
  // Beside it nothing is synced, and a start that runs has the folder.
  {
    page: howTo('psql'),
    line: /^wynnsync serve-db$/,
    in: 'copy',
    // Its usual port may be taken here.
    as: (line) => `${line} --port 5433`,
    ready: served,
    only: 'embedded',
  },
  { page: howTo('psql'), line: /^psql postgres:\/\/wynnsync_reader@/, in: 'copy', beside: true, only: 'embedded' },

  { page: howTo('query'), line: /\| psql "\$DATABASE_URL"$/, in: 'main', only: 'server' },
  { page: howTo('query'), line: /^wynnsync query [^|]*$/, in: 'main' },

  { page: howTo('replay'), line: /^wynnsync replay items/, in: 'copy' },

  { page: howTo('report'), line: /^wynnsync report/, in: 'main' },

  // A setting alone does nothing: maintenance of `start` obeys it.
  {
    page: howTo('retention'),
    line: /^WYNNSYNC_RETENTION="[^"]+"$/,
    in: 'copy',
    as: (line) => `${line} wynnsync start`,
    ready: started,
  },

  { page: howTo('retract'), line: /^wynnsync retract .*(--dry-run|--yes)$/, in: 'copy' },
  { page: howTo('retract'), line: /^wynnsync retract (\.\/recordings|.*--to \S+)$/, in: 'copy', as: yes },

  { page: howTo('sandbox'), line: /^wynnsync sandbox /, in: 'fresh', ready: served },
  { page: howTo('sandbox'), line: /^WYNNSYNC_CLOCK=api wynnsync sync /, in: 'fresh', beside: true, codes: synced },

  { page: howTo('serve'), line: /^npm install /, leftOut: library },
  { page: howTo('serve'), line: /^(\S+ )?wynnsync serve (?!--export)/, in: 'main', ready: served },
  { page: howTo('serve'), line: /^wynnsync start --web-port/, in: 'copy', ready: started },
  { page: howTo('serve'), line: /^wynnsync serve --export /, in: 'main' },
  { page: howTo('serve'), line: /^curl http/, in: 'main' },
  // The stream has no end: 28 is the time that is over.
  { page: howTo('serve'), line: /^curl -N /, in: 'main', as: (line) => `${line} --max-time 3`, codes: [28] },

  { page: howTo('start'), line: /^(WYNNSYNC_SCHEDULE="[^"]+" )?wynnsync start$/, in: 'copy', ready: started },

  { page: howTo('watches'), line: /^wynnsync watch add .* --slack -$/, in: 'copy', as: (line) => `${line} < url.txt` },
  { page: howTo('watches'), line: /^wynnsync watch (add .*[^-]|test .*|list)$/, in: 'copy' },
  { page: howTo('watches'), line: /^wynnsync watch remove /, in: 'copy', as: yes },

  // Not in a block of its own kind, but typed by everybody who has a crontab.
  { page: howTo('cron'), line: /^wynnsync sync .* --quiet$/, in: 'main', codes: synced },
]

/** The pages with commands, in the order in which they are read. */
function pagesOf(root: string): string[] {
  const howTos = readdirSync(join(root, 'docs/how-to')).filter((name) => name.endsWith('.md'))
  return [README, FIRST_DAY, ...howTos.sort().map((name) => `docs/how-to/${name}`)]
}

/** Every line that a page tells to type, and the commands of its crontab, page by page. */
export function readLines(root: string): Line[] {
  return pagesOf(root).flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8')
    const blocks = [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    const lines = blocks.flatMap(([, kind, block = '']) =>
      block.split('\n').flatMap((line) => {
        // minute, hour, day, month, weekday, command
        const [, command] = /^(?:[\d*/,]+ +){5}(wynnsync .*)$/.exec(line) ?? []
        return kind === 'sh' ? line : kind === '' && page === howTo('cron') ? (command ?? '') : ''
      }),
    )
    const typed = lines.map((line) => line.replace(/ +# .*$/, '').trim())
    return typed.filter((line) => line !== '').map((text) => ({ page, text }))
  })
}

/** The rule of a line; undefined: there is none. */
export function ruleOf({ page, text }: Line): Rule | undefined {
  return rules.find((rule) => rule.page === page && rule.line.test(text))
}
