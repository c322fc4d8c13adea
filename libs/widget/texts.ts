/** Every text of the widget in all its languages. The dashboard shows them to whoever sets up a banner. */
export const languages = ['en', 'de', 'fr', 'es', 'it'] as const;

type Phrase = readonly [en: string, de: string, fr: string, es: string, it: string];

export const phrases = {
  title: [
    'Your privacy, your choice',
    'Ihre Daten, Ihre Entscheidung',
    'Votre vie privée, votre choix',
    'Tu privacidad, tu decisión',
    'La tua privacy, la tua scelta',
  ],
  intro: [
    'This site uses cookies and similar technologies. Some are necessary, others need your consent. You can change your mind at any time.',
    'Diese Website nutzt Cookies und ähnliche Technologien. Einige sind notwendig, andere erfordern Ihre Einwilligung. Sie können Ihre Entscheidung jederzeit ändern.',
    'Ce site utilise des cookies et des technologies similaires\u00a0: certains sont nécessaires, d’autres requièrent votre consentement. Vous pouvez changer d’avis à tout moment.',
    'Este sitio usa cookies y tecnologías similares. Algunas son necesarias, otras requieren tu consentimiento. Puedes cambiar de opinión en cualquier momento.',
    'Questo sito usa cookie e tecnologie simili. Alcuni sono necessari, altri richiedono il tuo consenso. Puoi cambiare idea in qualsiasi momento.',
  ],
  gpc: [
    'Global Privacy Control is on: everything optional is off.',
    'Global Privacy Control ist aktiv: Alles Optionale ist aus.',
    'Global Privacy Control est actif\u00a0: les options facultatives sont désactivées.',
    'Global Privacy Control está activo: todo lo opcional está desactivado.',
    'Global Privacy Control è attivo: le opzioni facoltative sono disattivate.',
  ],
  accept: ['Accept all', 'Alle akzeptieren', 'Tout accepter', 'Aceptar todo', 'Accetta tutto'],
  reject: ['Reject all', 'Alle ablehnen', 'Tout refuser', 'Rechazar todo', 'Rifiuta tutto'],
  customise: ['Customise', 'Anpassen', 'Personnaliser', 'Personalizar', 'Personalizza'],
  save: ['Save choice', 'Auswahl speichern', 'Enregistrer', 'Guardar', 'Salva la scelta'],
  withdraw: [
    'Withdraw consent',
    'Einwilligung widerrufen',
    'Retirer mon consentement',
    'Retirar el consentimiento',
    'Revoca il consenso',
  ],
  settings: [
    'Privacy settings',
    'Datenschutzeinstellungen',
    'Paramètres de confidentialité',
    'Ajustes de privacidad',
    'Impostazioni sulla privacy',
  ],
  close: ['Close', 'Schließen', 'Fermer', 'Cerrar', 'Chiudi'],
  always: ['Always on', 'Immer aktiv', 'Toujours actifs', 'Siempre activas', 'Sempre attivi'],
  saved: ['Choice saved.', 'Auswahl gespeichert.', 'Choix enregistré.', 'Decisión guardada.', 'Scelta salvata.'],
  policy: [
    'Privacy policy',
    'Datenschutzerklärung',
    'Politique de confidentialité',
    'Política de privacidad',
    'Informativa sulla privacy',
  ],

  asks: [
    'Your consent is asked for:',
    'Wir bitten um Ihre Einwilligung für:',
    'Votre consentement est demandé pour\u00a0:',
    'Se pide tu consentimiento para:',
    'È richiesto il tuo consenso per:',
  ],
  asksBy: [
    '{company} asks for your consent for:',
    '{company} bittet um Ihre Einwilligung für:',
    '{company} demande votre consentement pour\u00a0:',
    '{company} pide tu consentimiento para:',
    '{company} chiede il tuo consenso per:',
  ],
  noSettings: [
    'The settings could not be loaded. You can decide here, or try again later.',
    'Die Einstellungen konnten nicht geladen werden. Sie können hier entscheiden oder es später erneut versuchen.',
    'Les paramètres n’ont pas pu être chargés. Vous pouvez décider ici ou réessayer plus tard.',
    'No se han podido cargar los ajustes. Puedes decidir aquí o intentarlo más tarde.',
    'Non è stato possibile caricare le impostazioni. Puoi decidere qui o riprovare più tardi.',
  ],

  // categories, and what each is for
  necessary: ['Necessary', 'Notwendig', 'Nécessaires', 'Necesarias', 'Necessari'],
  necessaryPurpose: [
    'Needed for this site to work.',
    'Für den Betrieb der Website nötig.',
    'Nécessaires au fonctionnement du site.',
    'Necesarias para que el sitio funcione.',
    'Necessari al funzionamento del sito.',
  ],
  functional: ['Functional', 'Funktional', 'Fonctionnels', 'Funcionales', 'Funzionali'],
  functionalPurpose: [
    'Remembers your settings.',
    'Merkt sich Ihre Einstellungen.',
    'Mémorisent vos préférences.',
    'Recuerdan tus ajustes.',
    'Ricordano le tue impostazioni.',
  ],
  analytics: ['Statistics', 'Statistik', 'Statistiques', 'Estadísticas', 'Statistiche'],
  analyticsPurpose: [
    'Shows us which pages are visited.',
    'Zeigt uns, welche Seiten besucht werden.',
    'Montrent quelles pages sont visitées.',
    'Muestran qué páginas se visitan.',
    'Mostrano quali pagine sono visitate.',
  ],
  marketing: ['Marketing', 'Marketing', 'Marketing', 'Marketing', 'Marketing'],
  marketingPurpose: [
    'Advertising based on your interests.',
    'Werbung passend zu Ihren Interessen.',
    'Publicité adaptée à vos centres d’intérêt.',
    'Publicidad basada en tus intereses.',
    'Pubblicità basata sui tuoi interessi.',
  ],
} satisfies Record<string, Phrase>;

/** Those of the second file alone. */
export const furtherPhrases = {
  // in place of a video or a map
  embedText: [
    'This content is shown only if you allow: {category}',
    'Dieser Inhalt erscheint nur, wenn Sie erlauben: {category}',
    'Ce contenu ne s’affiche que si vous autorisez\u00a0: {category}',
    'Este contenido solo se muestra si permites: {category}',
    'Questo contenuto viene mostrato solo se consenti: {category}',
  ],
  showOnce: ['Show once', 'Einmal anzeigen', 'Afficher une fois', 'Mostrar una vez', 'Mostra una volta'],
  alwaysAllow: [
    'Always allow {category}',
    '{category} immer erlauben',
    'Toujours autoriser {category}',
    'Permitir siempre {category}',
    'Consenti sempre {category}',
  ],

  lastDecision: [
    'Your last decision',
    'Ihre letzte Entscheidung',
    'Votre dernier choix',
    'Tu última decisión',
    'La tua ultima scelta',
  ],
  copy: ['Copy', 'Kopieren', 'Copier', 'Copiar', 'Copia'],
  serviceList: ['Services', 'Dienste', 'Services', 'Servicios', 'Servizi'],
  serviceProvider: ['Provider', 'Anbieter', 'Fournisseur', 'Proveedor', 'Fornitore'],
  cookieList: ['Cookies', 'Cookies', 'Cookies', 'Cookies', 'Cookie'],
  cookieDuration: [
    'Storage period',
    'Speicherdauer',
    'Durée de conservation',
    'Periodo de conservación',
    'Durata di conservazione',
  ],
  youAllowed: [
    'You allowed {categories} on {date}.',
    'Sie haben am {date} erlaubt: {categories}.',
    'Le {date}, vous avez autorisé\u00a0: {categories}.',
    'El {date} permitiste: {categories}.',
    'Il {date} hai consentito: {categories}.',
  ],
  youRejected: [
    'You rejected everything optional on {date}.',
    'Sie haben am {date} alles Optionale abgelehnt.',
    'Le {date}, vous avez tout refusé.',
    'El {date} rechazaste todo lo opcional.',
    'Il {date} hai rifiutato tutto ciò che è facoltativo.',
  ],
  youWithdrew: [
    'You withdrew your consent on {date}.',
    'Sie haben Ihre Einwilligung am {date} widerrufen.',
    'Le {date}, vous avez retiré votre consentement.',
    'El {date} retiraste tu consentimiento.',
    'Il {date} hai revocato il tuo consenso.',
  ],
  notAllowed: [
    'Not allowed: {categories}',
    'Nicht erlaubt: {categories}',
    'Non autorisés\u00a0: {categories}',
    'No permitido: {categories}',
    'Non consentito: {categories}',
  ],
} satisfies Record<string, Phrase>;
