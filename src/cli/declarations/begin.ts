import { SCOPES } from '../../api/auth/oauth.ts'
import type { CommandDeclaration, CommandGroup } from '../command.ts'
import { concurrency, option, repeatable, wide } from '../options.ts'

export const demo: CommandDeclaration = {
  usage: 'demo',
  summary: 'three simulated days in an embedded database, in five paragraphs and a report; no network',
  options: [option('--seed <number>', 'another world (default: 28)')],
  notes: `Without --data-dir it is in the temporary folder of the system; what an earlier demo left in its folder is removed. --database-url,
--base-url, --json, --quiet and --log-level do nothing in it, and are refused.`,
  examples: ['npm run demo', 'wynnsync demo --seed 7', 'wynnsync demo --data-dir ./demo'],
  load: async () => (await import('../commands/demo/demo-command.ts')).demoCommand,
}

export const init: CommandDeclaration = {
  usage: 'init',
  summary: 'set up this folder in three questions: where the history lives, token or guest, how to run',
  options: [
    option('--yes', 'ask nothing: take what flags and the present settings say'),
    option('--dry-run', 'only print what would be written into .env, and how to run it'),
    option('--systemd', 'print a systemd unit'),
    option('--cron', 'print crontab lines'),
    concurrency,
  ],
  notes: `Writes .env in the working directory, for your eyes only (mode 0600). Settings that are there already and are not asked about
stay. With a server of your own it does not offer compose, which brings one. Then it checks everything as \`wynnsync doctor\` does, and prints how to run it on this machine.`,
  examples: ['wynnsync init', 'wynnsync init --yes --cron', 'wynnsync init --yes --systemd > wynnsync.service'],
  load: async () => (await import('../commands/init/init-command.ts')).initCommand,
}

const clientSecret = option(
  '--client-secret <secret>',
  'of a private application; every user of this machine can read a command line, WYNNSYNC_CLIENT_SECRET is safer',
)

export const auth: CommandGroup = {
  usage: 'auth',
  summary: 'manage API credentials',
  notes: `A token raises the limit from 50 to 120 requests a minute, and shows what its player lets the application see.
WYNNSYNC_TOKEN goes before a stored token. A stored token is sent only to the API that issued it.`,
  examples: ['wynnsync auth login --client-id <id>', 'wynnsync auth status'],
  commands: [
    {
      usage: 'login',
      summary: 'log in with the browser, and store the token in a private file',
      options: [
        option('--client-id <id>', 'the application, registered on the website').makeOptionMandatory(),
        clientSecret,
        repeatable(
          '--scope <scopes>',
          'scopes to request, separated by blanks; may be given again (default: identify)',
        ),
        option('--port <number>', 'port on 127.0.0.1 for the redirect (default: any free one)'),
        option('--no-browser', 'print the address, open nothing'),
        concurrency,
      ],
      notes: `Scopes: ${SCOPES.join(', ')}
The application must allow the redirect to http://127.0.0.1:<port>/callback.`,
      examples: [
        'wynnsync auth login --client-id <id> --scope "identify main_access" --port 8765',
        'ssh -L 8765:127.0.0.1:8765 server wynnsync auth login --client-id <id> --port 8765 --no-browser',
      ],
      load: async () => (await import('../commands/auth/auth-login.ts')).authLogin,
    },
    {
      usage: 'exchange',
      summary: 'exchange an authorization code for a token, and store it',
      options: [
        option('--code <code>', 'from the redirect; valid once, for five minutes').makeOptionMandatory(),
        option('--client-id <id>', 'the application that the code was issued to').makeOptionMandatory(),
        option('--redirect-uri <url>', 'the address that the code was sent to').makeOptionMandatory(),
        clientSecret,
        option('--code-verifier <verifier>', 'of the code_challenge that the login page was given (PKCE)'),
        concurrency,
      ],
      examples: [
        'wynnsync auth exchange --code <code> --client-id <id> --redirect-uri <url> --code-verifier <verifier>',
      ],
      load: async () => (await import('../commands/auth/auth-login.ts')).authExchange,
    },
    {
      usage: 'status',
      summary: 'who the credential is: its player, scopes, profiles and access rules, and its last use',
      options: [concurrency],
      examples: ['wynnsync auth status', 'wynnsync auth status --json | jq .scopes'],
      load: async () => (await import('../commands/auth/auth.ts')).authStatus,
    },
    {
      usage: 'whoami',
      isHidden: true,
      summary: 'the player of the credential; auth status says more',
      options: [concurrency],
      examples: ['wynnsync auth whoami'],
      load: async () => (await import('../commands/auth/auth.ts')).authWhoami,
    },
    {
      usage: 'me',
      isHidden: true,
      summary: 'the older name of auth status',
      options: [concurrency],
      examples: ['wynnsync auth me'],
      load: async () => (await import('../commands/auth/auth.ts')).authStatus,
    },
    {
      usage: 'logout',
      summary: 'delete the stored token; it stays valid until it is revoked on the website',
      examples: ['wynnsync auth logout'],
      load: async () => (await import('../commands/auth/auth.ts')).authLogout,
    },
  ],
}

export const config: CommandGroup = {
  usage: 'config',
  summary: 'the settings that commands use here',
  examples: ['wynnsync config show', 'wynnsync config show --json'],
  commands: [
    {
      usage: 'show',
      isDefault: true,
      summary: 'every setting, its value, and where that comes from: a flag, the environment, .env or the default',
      options: [wide],
      notes: 'Secrets are not shown, only whether they are set.',
      examples: ['wynnsync config show', 'wynnsync config show --database-url postgres://me@db.example/wynnsync'],
      load: async () => (await import('../commands/config/config-command.ts')).configShow,
    },
  ],
}
