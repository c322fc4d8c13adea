/** Form fields of an account, for the pages that links open. */
import type { InputHTMLAttributes } from 'preact';
import type { FieldError } from '#libs/base/terms/problem';
import { sentence } from '../data/api-error.ts';
import type { Errors } from './draft-form.tsx';
import { Field } from './field.tsx';

/** Errors by field: `/password` is the error of `password`. */
export const errorsByField = (errors: FieldError[]): Errors =>
  Object.fromEntries(errors.map(({ path, message }) => [path.split('/')[1] ?? '', sentence(`it ${message}`)]));

/** Errors for empty fields. */
export const emptyIn = <Draft extends object>(draft: Draft): Errors =>
  Object.fromEntries(Object.entries(draft).flatMap(([name, value]) => (value === '' ? [[name, 'Fill this in.']] : [])));

/** Trims the text, except for passwords. */
export const trimmed = <Draft extends object>(draft: Draft): Draft => ({
  ...draft,
  ...Object.fromEntries(
    Object.entries(draft).map(([name, text]) => [name, name === 'password' ? text : String(text).trim()]),
  ),
});

interface Props<Draft> {
  name: keyof Draft & string;
  drafted: { draft: Draft; errors: Errors; set(changed: Partial<Draft>): void };
  label: string;
  note?: string;
}

export function AccountField<Draft extends object>({
  name,
  drafted: { draft, errors, set },
  note = '',
  ...given
}: Props<Draft> & InputHTMLAttributes) {
  return (
    <Field
      {...given}
      name={name}
      noteId={`${name}-note`}
      note={note}
      error={errors[name]}
      value={String(draft[name])}
      onText={(text) => set({ [name]: text } as unknown as Partial<Draft>)}
    />
  );
}

interface PasswordProps<Draft> extends Pick<Props<Draft>, 'drafted'> {
  label?: string;
}

export const NewPassword = <Draft extends { password: string }>({
  drafted,
  label = 'Password',
}: PasswordProps<Draft>) => (
  <AccountField
    name="password"
    drafted={drafted}
    label={label}
    type="password"
    autocomplete="new-password"
    note="At least 12 characters, such as four words that do not belong together"
  />
);
