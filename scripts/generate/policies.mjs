// What the policies of src/sync/evidence/policies.ts say, for the table in docs/explanation/deletion.md.

/** What each policy is about, for people: what is claimed, what follows and since when, and what ends it. */
export const explained = {
  missing: {
    says: 'a complete response lacks a key',
    follows: 'its version ends, since the first that lacked it',
    ends: 'a response that has the key',
  },
  'missing from shrunken': {
    says: 'the same of a list that is shrunken; or a board has no place at all',
    follows: 'its version ends, or all places are empty, since the first that lacked it',
    ends: 'a response that has the key',
  },
  older: {
    says: 'a record is older than what is stored',
    follows: 'it replaces what is stored, since the first that showed it',
    ends: 'a response that shows what is stored',
  },
  resumed: {
    says: 'the version before the current one is back',
    follows: 'it never ended',
    ends: 'a response that shows the current one',
  },
  shown: {
    says: 'one response showed a version',
    follows: 'it is kept, since that response',
    ends: 'a response that contradicts it takes it back',
  },
  returned: {
    says: 'one response showed again what had a tombstone',
    follows: 'the tombstone is forgotten',
    ends: 'a response that lacks it brings the tombstone back',
  },
  shrunken: {
    says: 'a list has far fewer records than before',
    follows: 'it is loaded, since the response that confirms it',
    ends: 'a list of plausible size; `--accept` believes the first',
  },
  flawed: {
    says: 'a response about a key contradicts itself',
    follows: 'it is loaded in part, since the response that confirms it',
    ends: 'a response that does not; `--accept` believes the first',
  },
  skipped: {
    says: 'an announced start, still to come, is announced no more',
    follows: 'it is taken back',
    ends: 'a response that has it again',
  },
  moved: {
    says: 'another start of an event is announced, and the one before is still to come',
    follows: 'it is kept, since the first that announced it',
    ends: 'a response that does not repeat it takes it back',
  },
  'empty place': {
    says: 'a board lacks a place',
    follows: 'the place is empty, since the first that lacked it',
    ends: 'a response that has the place',
  },
  unlisted: {
    says: 'a list that is hard to believe lacks a player',
    follows: 'the listing ends, since the first that lacked the player',
    ends: 'a list that has the player',
  },
  unsent: {
    says: 'records lack a field that most had, a record lists a number no more, or a list of it cannot be read',
    follows: 'it is unknown, since the last response that had it',
    ends: 'a response that has it; after two weeks, or with `--accept`, runs without it are not partial',
  },
  unread: {
    says: 'the record of a key cannot be read, or who holds a territory, or is lacking in a walk or list that is not whole',
    follows: 'it is as before and known no longer, since the first that could not be read',
    ends: 'a response whose record can be read, or a whole one in which the key is over',
  },
  volatile: {
    says: 'a field that the program does not know moved in every second record that has it',
    follows: 'its latest value is kept, and makes no version',
    ends: 'a week without a move',
  },
  'volatile in few records': {
    says: 'the same in fewer records',
    follows: 'its latest value is kept, and makes no version',
    ends: 'a week without a move',
  },
  joined: {
    says: 'a known member joined at another time',
    follows: 'the spell is another one, since the first that showed it',
    ends: 'a response that shows the known time; `--accept` believes the first',
  },
  rank: {
    says: 'many members have another rank at once',
    follows: 'the ranks are others, since the first that showed them',
    ends: 'a response that shows the known ranks; `--accept` believes the first',
  },
  appeared: {
    says: 'there is a key that no response showed before, and that is an event, or most keys are new at once',
    follows: 'it is there, since the first that showed it',
    ends: 'a response that lacks the key',
  },
  gone: {
    says: 'the API says that there is no such key (404)',
    follows: 'a tombstone, since the first of them',
    ends: 'a response that shows the key, a later list that names it, or many refused at once',
  },
  forbidden: {
    says: 'the API refuses a profile to one kind of credential (403)',
    follows: 'what that hides is removed, since the response that confirms it',
    ends: 'a response that shows the profile, or many refused at once',
  },
  restricted: {
    says: 'a player hides something',
    follows: 'it is hidden at once, and removed with the response that confirms it',
    ends: 'a response that does not say so: it counts anew, and is shown as below; `--accept` removes with the second',
  },
  'restricted in mass': {
    says: 'many people hide something at once',
    follows: 'the same',
    ends: 'the same',
  },
  lifted: {
    says: 'a player hides something no longer',
    follows: 'it is shown, since the response that confirms it',
    ends: 'a response that restricts it; `--accept` believes the first',
  },
  'lifted by absence': {
    says: 'a rule that hid something is missing among the rules that a response names',
    follows: 'the same',
    ends: 'the same',
  },
}
