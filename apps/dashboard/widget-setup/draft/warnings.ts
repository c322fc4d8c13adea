import { contrastWarning } from './contrast.ts';
import { appearanceOver, type WidgetDraft } from './draft.ts';

/** Warnings about each variant: contrast that is too low, and information that authorities expect before the buttons. */
export function warningsOf(draft: WidgetDraft): string[] {
  const { company, policyUrl, cookieDomain, regions = [], experiment } = draft;
  const own = contrastWarning(draft)?.sentence;
  const ofVariants = (experiment?.variants ?? []).flatMap(({ name, settings = {} }) => {
    const sentence = contrastWarning(appearanceOver(draft, settings))?.sentence;
    return sentence && sentence !== own ? [`Variant ${name}: ${sentence}`] : [];
  });
  return [
    ...(own ? [own] : []),
    ...ofVariants,
    ...(cookieDomain || !regions.some(({ model }) => model === 'opt_out') ? [] : [forgotten]),
    ...(company ? [] : ['The banner does not say who asks: name your company.']),
    ...(policyUrl ? [] : ['The banner has no link to a privacy policy.']),
  ];
}

const forgotten =
  'Safari forgets after seven days that a visitor has objected. For places where everything runs until they do, fill in “One choice for all subdomains of”, and let your server send the cookie again.';
