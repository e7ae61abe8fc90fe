import * as z from 'zod'
import { text } from './form/field-meta.ts'
import { recordParser } from './form/record.ts'
import { identityFields } from './people/identities.ts'

/** The answer to a code (API reference 3.1). There is no refresh token, and no fixed expiry. */
export const tokenSchema = z.looseObject({
  /** Send it as the client's `token`. */
  access_token: z.string().min(1),
  /** `bearer` */
  token_type: text,
  /** Scopes granted, separated by spaces. */
  scope: text,
})

/** The application of an OAuth token, and the players it speaks for. */
export const grantSchema = z.looseObject({
  application: z.looseObject({ client_id: text, scopes: z.array(z.string()).nullish() }).nullish(),
  /** By uuid. */
  profiles: z.record(
    z.string(),
    z.looseObject({
      ...identityFields,
      /** True for the account itself, false for others linked to it. */
      primary: z.boolean().nullish(),
      /** By rule, in snake_case, such as `online_status`: `public`, `friend`, ... */
      accessRules: z.record(z.string(), z.string().nullish()).nullish(),
    }),
  ),
})

export type Token = z.output<typeof tokenSchema>
export type Grant = z.output<typeof grantSchema>

/** @throws RecordError when the body holds no access token; the error does not show the body */
export const parseToken: (body: unknown) => Token = recordParser('access token', tokenSchema)

/** @throws RecordError with the JSON pointer of the first thing that is no answer of `/oauth/me` */
export const parseGrant: (body: unknown) => Grant = recordParser('OAuth grant', grantSchema)
