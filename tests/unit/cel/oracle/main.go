// Verdicts of Kubernetes' own evaluator on the expressions and devices of cases.json.
//
//	go run . < ../cases.json > ../verdicts.json (Go 1.26 or later)
//
// An expression that does not compile has the verdict {"": "compile: ..."}; otherwise every device has "true", "false" or "error: ...".
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
)

type device struct {
	Driver             string `json:"driver"`
	resourceapi.Device `json:",inline"`
}

type cases struct {
	Devices     map[string]device `json:"devices"`
	Expressions []string          `json:"expressions"`
}

func main() {
	var input cases
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		log.Fatal(err)
	}
	// Stored expressions, like the scheduler: every feature is there whatever the gates say.
	compiler := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: true})
	verdicts := map[string]map[string]string{}
	for _, expression := range input.Expressions {
		verdicts[expression] = judge(compiler.CompileCELExpression(expression, cel.Options{DisableCostEstimation: true}), input.Devices)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(verdicts); err != nil {
		log.Fatal(err)
	}
}

func judge(compiled cel.CompilationResult, devices map[string]device) map[string]string {
	if compiled.Error != nil {
		return map[string]string{"": "compile: " + firstLine(compiled.Error.Detail)}
	}
	verdicts := map[string]string{}
	for name, d := range devices {
		matches, _, err := compiled.DeviceMatches(context.Background(), cel.Device{
			Driver:                   d.Driver,
			AllowMultipleAllocations: d.AllowMultipleAllocations,
			Attributes:               d.Attributes,
			Capacity:                 d.Capacity,
		})
		if err != nil {
			verdicts[name] = "error: " + firstLine(err.Error())
		} else {
			verdicts[name] = fmt.Sprint(matches)
		}
	}
	return verdicts
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
