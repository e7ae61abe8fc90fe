import { SCOPES } from '../../../api/auth/oauth.ts'
import type { CommandGroup } from '../../command.ts'
import { concurrency, option, repeatable } from '../../options.ts'

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
      load: async () => (await import('./auth-login.ts')).authLogin,
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
      load: async () => (await import('./auth-login.ts')).authExchange,
    },
    {
      usage: 'status',
      summary: 'who the credential is: its player, scopes, profiles and access rules, and its last use',
      options: [concurrency],
      examples: ['wynnsync auth status', 'wynnsync auth status --json | jq .scopes'],
      load: async () => (await import('./auth.ts')).authStatus,
    },
    {
      usage: 'whoami',
      isHidden: true,
      summary: 'the player of the credential; auth status says more',
      options: [concurrency],
      examples: ['wynnsync auth whoami'],
      load: async () => (await import('./auth.ts')).authWhoami,
    },
    {
      usage: 'me',
      isHidden: true,
      summary: 'the older name of auth status',
      options: [concurrency],
      examples: ['wynnsync auth me'],
      load: async () => (await import('./auth.ts')).authStatus,
    },
    {
      usage: 'logout',
      summary: 'delete the stored token; it stays valid until it is revoked on the website',
      examples: ['wynnsync auth logout'],
      load: async () => (await import('./auth.ts')).authLogout,
    },
  ],
}
