package worker

import (
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"github.com/holodeck-run/holodeck/payload"
)

// DataConverter is the SDK's default converter, but its JSON is not escaped
// for HTML: markdown keeps its < > &, and its size.
func DataConverter() converter.DataConverter {
	return converter.NewCompositeDataConverter(
		converter.NewNilPayloadConverter(),
		converter.NewByteSlicePayloadConverter(),
		converter.NewProtoJSONPayloadConverter(),
		converter.NewProtoPayloadConverter(),
		plainJSON{converter.NewJSONPayloadConverter()},
	)
}

type plainJSON struct {
	*converter.JSONPayloadConverter
}

// ToPayload implements converter.PayloadConverter.
func (plainJSON) ToPayload(v any) (*commonpb.Payload, error) { return jsonPayload(v) }

// jsonPayload prints a value as JSON without HTML escaping.
func jsonPayload(v any) (*commonpb.Payload, error) {
	data, err := payload.Marshal(v)
	if err != nil {
		return nil, err
	}
	return &commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)},
		Data:     data,
	}, nil
}
